// Opens exported web pages in a real browser: `node pages.mjs BROWSER EXECUTABLE REQUEST`, in a folder where puppeteer-core is installed. REQUEST
// is a file of JSON: `pages`, each with the drawings that it is given, and `compared`, pages that have to have the same elements. Prints JSON: what
// each page made of its drawings, and how many milliseconds each of them took.
import * as fs from 'node:fs';
import assert from 'node:assert';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';

const [name, executablePath, request] = process.argv.slice(2);
const { pages, compared } = JSON.parse(fs.readFileSync(request));
// On a machine that is busy, a browser takes its time to start. Chromium's own sandbox does not work for root.
const patient = { timeout: 300_000, protocolTimeout: 600_000 };
const browser = await puppeteer.launch({ ...patient, browser: name, executablePath, headless: true, args: name === 'chrome' ? ['--no-sandbox'] : [] });

// Nothing but the page itself is asked for, and nothing in it fails.
async function open(path) {
    const page = await browser.newPage();
    const wrong = [];
    const allowed = [pathToFileURL(path).href, 'data:,'];
    page.on('request', (asked) => allowed.includes(asked.url()) || wrong.push(`asks for ${asked.url()}`));
    page.on('pageerror', (error) => wrong.push(error.message));
    page.on('console', (message) => wrong.push(message.text()));
    page.on('dialog', (dialog) => wrong.push('opens a dialog') && dialog.dismiss());
    await page.setViewport({ width: 360, height: 640 });
    await page.goto(pathToFileURL(path).href, patient);
    return { page, close: async () => (assert.deepEqual(wrong, [], path), page.close()) };
}

async function readings({ path, drawings }) {
    const { page, close } = await open(path);
    const read = await page.evaluate((drawings) => {
        // The fastest of several batches: the browser compiles meanwhile, and other programs disturb it.
        const [found, batch] = [[], 20];
        let milliseconds = Infinity;
        for (let first = 0; first < drawings.length; first += batch) {
            const some = drawings.slice(first, first + batch);
            const start = performance.now();
            found.push(...some.map(({ strokes, pen }) => recognize(strokes, pen)));
            milliseconds = Math.min(milliseconds, (performance.now() - start) / some.length);
        }
        return { milliseconds, readings: found.map(({ probabilities, best, score, isDigit }) => ({ probabilities, best, score, isDigit })) };
    }, drawings);
    await close();
    return read;
}

// With a pointer and with keys, as a person would.
async function use(path) {
    const { page, close } = await open(path);
    const text = (id) => page.$eval(id, (element) => element.textContent);
    // The verdict follows at the next frame.
    const settled = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const expect = async (answer) => (await settled(), assert.equal(await text('#answer'), answer));
    const box = await (await page.$('#drawing')).boundingBox();
    const draw = async (strokes) => {
        for (const [first, ...rest] of strokes) {
            const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
            await page.mouse.move(...at(first));
            await page.mouse.down();
            for (const point of rest) await page.mouse.move(...at(point), { steps: 10 });
            await page.mouse.up();
        }
    };
    const down = [[[0.5, 0.15], [0.48, 0.85]]];
    await expect('?');
    await draw(down);
    await expect('1');
    await page.keyboard.press('Delete');
    await expect('?');
    await draw([[[0.25, 0.2], [0.75, 0.2], [0.45, 0.85]]]);
    await expect('7');
    await page.click('#clear');
    await page.click('#undo');
    await expect('7');
    await page.keyboard.down('Control');
    await page.keyboard.press('z');
    await page.keyboard.up('Control');
    await expect('?');
    await draw([[[0.2, 0.2], [0.8, 0.8]], [[0.8, 0.2], [0.2, 0.8]], [[0.1, 0.5], [0.9, 0.5]], [[0.5, 0.1], [0.5, 0.9]]]);
    await expect('–');
    assert.equal(await text('#confidence'), 'Not a digit');
    await page.click('#clear');
    // The keyboard's pen starts in the middle.
    await page.focus('#drawing');
    for (let i = 0; i < 10; i++) await page.keyboard.press('ArrowUp');
    await page.keyboard.press(' ');
    for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press(' ');
    await expect('1');
    assert.equal(await text('#spoken'), `1, ${await text('#confidence')}`);
    // It fits a small phone, without scrolling sideways.
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await close();
}

async function elements(path) {
    const { page, close } = await open(path);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const found = await page.evaluate(() => [...document.querySelectorAll('*')].map((element) => [element.tagName, ...element.getAttributeNames()].join(' ')));
    await close();
    return found;
}

const read = [];
for (const page of pages) read.push(await readings(page));
await use(pages[0].path);
const found = [];
for (const path of compared) found.push(await elements(path));
found.forEach((other) => assert.deepEqual(other, found[0]));
await browser.close();
process.stdout.write(JSON.stringify(read));
