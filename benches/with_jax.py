"""JAX's side of compare.py: a step is one function, compiled by XLA, that updates its weights in place. Images have their channels last, which is what
XLA is fastest with on a CPU."""

import functools
import os
import time

import numpy

from peers import NETS, mnist, normalized, serve, step_count


def prepare(folder, threads, device):
    # XLA has a thread for every processor that it may use.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    import jax
    import jax.numpy as jnp
    import optax
    from jax import lax

    random = numpy.random.default_rng(1)

    def conv(inputs, outputs, size, bias=True):
        bound = (1 / (inputs * size * size)) ** 0.5
        weights = random.uniform(-bound, bound, (size, size, inputs, outputs)).astype("float32")
        return {"w": weights, **({"b": numpy.zeros(outputs, "float32")} if bias else {})}

    def dense(inputs, outputs):
        bound = (1 / inputs) ** 0.5
        return {"w": random.uniform(-bound, bound, (inputs, outputs)).astype("float32"), "b": numpy.zeros(outputs, "float32")}

    def norm(channels):
        return {"scale": numpy.ones(channels, "float32"), "shift": numpy.zeros(channels, "float32")}

    def convolve(layer, x, stride=1, padding="VALID"):
        x = lax.conv_general_dilated(x, layer["w"].astype(x.dtype), (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return x + layer["b"].astype(x.dtype) if "b" in layer else x

    def pool(x):
        return lax.reduce_window(x, numpy.array(-numpy.inf, x.dtype), lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def linear(layer, x):
        return x @ layer["w"].astype(x.dtype) + layer["b"].astype(x.dtype)

    def normalize(layer, running, x):
        """Batch normalization, and its running statistics after this batch."""
        y = x.astype(jnp.float32)
        mean, variance = y.mean((0, 1, 2)), y.var((0, 1, 2))
        y = (y - mean) * lax.rsqrt(variance + 1e-5) * layer["scale"] + layer["shift"]
        after = {"mean": 0.9 * running["mean"] + 0.1 * mean, "variance": 0.9 * running["variance"] + 0.1 * variance}
        return y.astype(x.dtype), after

    def convnet(p, running, x, key):
        x = pool(convolve(p["conv1"], x))
        x = pool(convolve(p["conv2"], x))
        x = jax.nn.relu(linear(p["fc1"], x.reshape(len(x), -1)))
        x = jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x * 2, 0)
        return linear(p["fc2"], x), running

    def speedrun(p, running, x, key):
        x = jax.nn.relu(pool(convolve(p["conv1"], x)))
        x, after = normalize(p["conv2.bn"], running["conv2"], pool(convolve(p["conv2"], x)))
        x = jax.nn.relu(linear(p["fc1"], jax.nn.relu(x).reshape(len(x), -1)))
        return linear(p["fc2"], x), {"conv2": after}

    def resnet8(p, running, x, key):
        after = {}

        def conv_bn(name, x, stride=1):
            y, after[name] = normalize(p[name + ".bn"], running[name], convolve(p[name], x, stride, "SAME"))
            return y

        x = jax.nn.relu(conv_bn("stem", x))
        for stage in range(3):
            stride = 2 if stage else 1
            y = conv_bn(f"{stage}.conv2", jax.nn.relu(conv_bn(f"{stage}.conv1", x, stride)))
            x = jax.nn.relu(y + (conv_bn(f"{stage}.downsample", x, stride) if stage else x))
        return linear(p["fc"], x.mean((1, 2))), after

    def resnet8_weights():
        p = {"stem": conv(1, 16, 3, False), "fc": dense(64, 10)}
        for stage, (inputs, outputs) in enumerate([(16, 16), (16, 32), (32, 64)]):
            p |= {f"{stage}.conv1": conv(inputs, outputs, 3, False), f"{stage}.conv2": conv(outputs, outputs, 3, False)}
            if stage:
                p[f"{stage}.downsample"] = conv(inputs, outputs, 1, False)
        return p | {f"{name}.bn": norm(layer["w"].shape[-1]) for name, layer in p.items() if name != "fc"}

    networks = {
        "convnet": (convnet, lambda: {"conv1": conv(1, 32, 5), "conv2": conv(32, 64, 5), "fc1": dense(1024, 1024), "fc2": dense(1024, 10)}),
        "speedrun": (speedrun, lambda: {"conv1": conv(1, 24, 5), "conv2": conv(24, 32, 3, False), "conv2.bn": norm(32), "fc1": dense(800, 256), "fc2": dense(256, 10)}),
        "resnet8": (resnet8, resnet8_weights),
    }
    pixels, digits = mnist(folder)
    images, labels = jnp.asarray(normalized(pixels)[..., None]), jnp.asarray(digits.astype("int32"))
    trained = {}

    def build(net, size, precision):
        settings = NETS[net]
        rate = settings["lr"]
        if settings["schedule"] == "one-cycle":
            rate = optax.cosine_onecycle_schedule(len(images) // size, rate, 0.3)
        optimizer = {"adam": optax.adam, "adamw": optax.adamw}[settings["optimizer"]](rate)
        forward, weights = networks[net]
        number = {"bf16": jnp.bfloat16}.get(precision, jnp.float32)

        @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
        def step(p, running, state, chosen, key):
            def loss_of(p):
                logits, after = forward(p, running, images[chosen].astype(number), key)
                losses = optax.softmax_cross_entropy_with_integer_labels(logits.astype(jnp.float32), labels[chosen])
                return losses.mean(), after

            (_, after), gradients = jax.value_and_grad(loss_of, has_aux=True)(p)
            updates, state = optimizer.update(gradients, state, p)
            return optax.apply_updates(p, updates), after, state

        p = jax.tree.map(jnp.asarray, weights())
        channels = {name.removesuffix(".bn"): len(layer["scale"]) for name, layer in p.items() if name.endswith(".bn")}
        running = {name: {"mean": jnp.zeros(count), "variance": jnp.ones(count)} for name, count in channels.items()}
        return step, optimizer, p, running

    def epoch(net, size, mode, most_steps):
        if (net, size, mode) not in trained:
            trained[net, size, mode] = build(net, size, mode)
        step, optimizer, p, running = trained[net, size, mode]
        # The weights are given away to the step, and every epoch begins its schedule again.
        p, running = jax.tree.map(jnp.copy, (p, running))
        state = optimizer.init(p)
        steps = step_count(most_steps, size, len(images))
        keys = jax.random.split(jax.random.key(1), steps)
        jax.block_until_ready((p, keys))
        began = time.perf_counter()
        order = random.permutation(len(images))
        for number in range(steps):
            p, running, state = step(p, running, state, order[number * size:(number + 1) * size], keys[number])
        jax.block_until_ready(p)
        return (time.perf_counter() - began) / (steps * size)

    return jax.__version__, "processor", epoch


if __name__ == "__main__":
    serve(prepare)
