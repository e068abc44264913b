// Computes a model as a browser would, with onnxruntime-web's WebAssembly: `node onnxruntime_web.mjs MODEL IMAGES PROBABILITIES`, in a folder where
// onnxruntime-web is installed. IMAGES has 784 bytes for each image; the probabilities are written as 10 float32 each.
import * as fs from 'node:fs';
import * as ort from 'onnxruntime-web';

const [model, given, got] = process.argv.slice(2);
ort.env.wasm.numThreads = 1;
const session = await ort.InferenceSession.create(fs.readFileSync(model));
const pixels = new Uint8Array(fs.readFileSync(given));
const image = new ort.Tensor('uint8', pixels, [pixels.length / 784, 28, 28]);
const { probabilities } = await session.run({ image });
fs.writeFileSync(got, new Uint8Array(probabilities.data.buffer, probabilities.data.byteOffset, probabilities.data.byteLength));
