// Opens files as Netron does, with its own readers and without its window, and prints what it would show: `node netron.mjs FILE …` in a folder
// with Netron's scripts. One JSON object a line: the format, inputs and outputs, every operator's name and kind, every weight's name and shape.
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = process.cwd();
const script = (name) => pathToFileURL(path.join(folder, name)).href;
const base = await import(script('base.js'));
const view = await import(script('view.js'));

// What Netron's readers ask of whatever they run in.
class Host {

    environment() {
        return undefined;
    }

    require(id) {
        return import(script(`${id.replace('./', '')}.js`));
    }

    async asset(name) {
        return fs.readFile(path.join(folder, name), 'utf-8');
    }

    error(error) {
        throw error;
    }

    exception(error) {
        throw error;
    }

    event() {
    }
}

const host = new Host();
const service = new view.ModelFactoryService(host);
for (const file of process.argv.slice(2)) {
    const stream = new base.BinaryStream(await fs.readFile(file));
    const context = {
        identifier: path.basename(file),
        stream,
        entries: new Map(),
        asset: (name) => host.asset(name),
        fetch: (name) => host.asset(name),
        require: (id) => host.require(id),
        error: (error) => host.error(error),
        request: (name) => host.asset(name),
    };
    const model = await service.open(context);
    const [graph] = model.modules || model.graphs;
    const values = (list) => list.flatMap((argument) => argument.value.map((value) => ({ name: value.name, type: `${value.type}` })));
    const nodes = graph.nodes.map((node) => ({ name: node.name, type: node.type.name }));
    const weights = graph.nodes.flatMap((node) => node.inputs.flatMap((input) => (Array.isArray(input.value) ? input.value : []))
        .filter((value) => value.initializer).map((value) => ({ name: value.name, type: `${value.initializer.type}` })));
    const metadata = Object.fromEntries((model.metadata || []).map((entry) => [entry.name, entry.value]));
    console.log(JSON.stringify({ format: model.format, inputs: values(graph.inputs), outputs: values(graph.outputs), nodes, weights, metadata }));
}
