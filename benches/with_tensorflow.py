"""TensorFlow's side of compare.py: a step is one function, as a graph whose operations are oneDNN's. Images have their channels last, which oneDNN
needs."""

import os
import time

os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy

from peers import NETS, mnist, normalized, serve, step_count


def prepare(folder, threads, device):
    import tensorflow as tf
    from tensorflow import keras
    from tensorflow.keras import layers

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)

    def conv_bn(x, outputs, size, stride=1, activation=True):
        x = layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(layers.Conv2D(outputs, size, stride, "same", use_bias=False)(x))
        return layers.ReLU()(x) if activation else x

    def convnet(x):
        x = layers.MaxPooling2D()(layers.Conv2D(32, 5)(x))
        x = layers.MaxPooling2D()(layers.Conv2D(64, 5)(x))
        return layers.Dropout(0.5)(layers.Dense(1024, "relu")(layers.Flatten()(x)))

    def speedrun(x):
        x = layers.ReLU()(layers.MaxPooling2D()(layers.Conv2D(24, 5)(x)))
        x = layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(layers.MaxPooling2D()(layers.Conv2D(32, 3, use_bias=False)(x)))
        x = layers.ReLU()(x)
        return layers.Dense(256, "relu")(layers.Flatten()(x))

    def resnet8(x):
        x = conv_bn(x, 16, 3)
        for outputs in (16, 32, 64):
            stride = 1 if outputs == 16 else 2
            y = conv_bn(conv_bn(x, outputs, 3, stride), outputs, 3, activation=False)
            shortcut = x if stride == 1 else conv_bn(x, outputs, 1, stride, activation=False)
            x = layers.ReLU()(layers.Add()([y, shortcut]))
        return layers.GlobalAveragePooling2D()(x)

    networks = {"convnet": convnet, "speedrun": speedrun, "resnet8": resnet8}
    pixels, digits = mnist(folder)
    images, labels = tf.constant(normalized(pixels)[..., None]), tf.constant(digits.astype("int32"))
    random = numpy.random.default_rng(1)
    trained = {}

    def build(net, size, precision):
        keras.mixed_precision.set_global_policy({"bf16": "mixed_bfloat16"}.get(precision, "float32"))
        takes = keras.Input((28, 28, 1))
        model = keras.Model(takes, layers.Dense(10, dtype="float32")(networks[net](takes)))
        settings = NETS[net]
        rate, steps = settings["lr"], len(images) // size
        if settings["schedule"] == "one-cycle":
            rate = keras.optimizers.schedules.CosineDecay(rate / 25, steps * 7 // 10, warmup_target=rate, warmup_steps=steps * 3 // 10)
        rule = {"adam": keras.optimizers.Adam, "adamw": keras.optimizers.AdamW}[settings["optimizer"]]
        optimizer = rule(rate)
        optimizer.build(model.trainable_variables)
        loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

        @tf.function
        def step(chosen):
            with tf.GradientTape() as tape:
                loss = loss_of(tf.gather(labels, chosen), model(tf.gather(images, chosen), training=True))
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

        return step, optimizer

    def epoch(net, size, mode, most_steps):
        if (net, size, mode) not in trained:
            trained[net, size, mode] = build(net, size, mode)
        step, optimizer = trained[net, size, mode]
        # Every epoch begins its schedule again.
        optimizer.iterations.assign(0)
        steps = step_count(most_steps, size, len(images))
        batches = tf.constant(random.permutation(len(images))[:steps * size].reshape(steps, size))
        began = time.perf_counter()
        for chosen in batches:
            step(chosen)
        return (time.perf_counter() - began) / (steps * size)

    return tf.__version__, "processor", epoch


if __name__ == "__main__":
    serve(prepare)
