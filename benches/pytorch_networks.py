"""Inkling's networks as PyTorch modules, by the names Inkling gives them. Must not know Inkling."""

import torch
import torch.nn.functional as F
from torch import nn


def mlp(*widths):
    sizes = [784, *widths]
    layers = [layer for inputs, outputs in zip(sizes, widths) for layer in (nn.Linear(inputs, outputs), nn.ReLU())]
    return nn.Sequential(nn.Flatten(), *layers, nn.Linear(sizes[-1], 10))


def conv_bn(inputs, outputs, kernel, *pool):
    """A convolution as large as its input, pooled or not, and batch normalization."""
    return [nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False), *pool, nn.BatchNorm2d(outputs), nn.ReLU()]


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(6, 16, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def convnet():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(1024, 1024), nn.ReLU(), nn.Dropout(0.5), nn.Linear(1024, 10))


def pytorch_example():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(),
        nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10))


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(1600, 10))


def speedrun():
    return nn.Sequential(
        nn.Conv2d(1, 24, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(24, 32, 3, bias=False), nn.MaxPool2d(2), nn.BatchNorm2d(32), nn.ReLU(), nn.Flatten(),
        nn.Linear(800, 256), nn.ReLU(), nn.Linear(256, 10))


def convnet_bn():
    return nn.Sequential(
        *conv_bn(1, 32, 5, nn.MaxPool2d(2)), *conv_bn(32, 64, 3, nn.MaxPool2d(2)), *conv_bn(64, 128, 3, nn.MaxPool2d(2)), nn.Flatten(),
        nn.Linear(1152, 256), nn.ReLU(), nn.Linear(256, 10))


def tiny():
    return nn.Sequential(
        *conv_bn(1, 6, 5, nn.MaxPool2d(2)), *conv_bn(6, 12, 3), *conv_bn(12, 12, 3), *conv_bn(12, 14, 3, nn.MaxPool2d(2)), *conv_bn(14, 16, 3),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))


class Block(nn.Module):
    """Two convolutions with a skip connection."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.downsample(x))


def resnet(blocks, widths):
    stages, inputs = [], widths[0]
    for stage, (count, outputs) in enumerate(zip(blocks, widths)):
        for index in range(count):
            stages.append(Block(inputs, outputs, 2 if stage and not index else 1))
            inputs = outputs
    return nn.Sequential(*conv_bn(1, widths[0], 3), *stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10))


class TransformerBlock(nn.Module):
    """Self-attention and two linear layers, each on what is normalized and added to its input."""

    def __init__(self, features, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(features), nn.LayerNorm(features)
        self.qkv, self.proj = nn.Linear(features, 3 * features), nn.Linear(features, features)
        self.fc1, self.fc2 = nn.Linear(features, 2 * features), nn.Linear(2 * features, features)

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.fc2(F.relu(self.fc1(self.norm2(x))))


class Attention(nn.Module):
    """A small vision transformer with a convolutional stem."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(*conv_bn(1, 16, 3, nn.MaxPool2d(2)), *conv_bn(16, 32, 3))
        self.patches = nn.Conv2d(32, 64, 2, stride=2)
        self.positions = nn.Parameter(torch.zeros(1, 49, 64))
        self.blocks = nn.Sequential(*(TransformerBlock(64, 4) for _ in range(2)))
        self.norm, self.head = nn.LayerNorm(64), nn.Linear(64, 10)

    def forward(self, x):
        x = self.patches(self.stem(x)).flatten(2).transpose(1, 2) + self.positions
        return self.head(self.norm(self.blocks(x).mean(1)))


NETWORKS = {
    "linear": mlp,
    "mlp-small": lambda: mlp(100),
    "mlp": lambda: mlp(256, 256),
    "mlp-large": lambda: mlp(512, 512),
    "lenet": lenet,
    "convnet": convnet,
    "pytorch-example": pytorch_example,
    "cnn": cnn,
    "speedrun": speedrun,
    "convnet-bn": convnet_bn,
    "tiny": tiny,
    "resnet8": lambda: resnet([1, 1, 1], [16, 32, 64]),
    "resnet14": lambda: resnet([2, 2, 2], [16, 32, 64]),
    "resnet20": lambda: resnet([3, 3, 3], [16, 32, 64]),
    "resnet34": lambda: resnet([3, 4, 6, 3], [16, 32, 64, 128]),
    "attention": Attention,
}
