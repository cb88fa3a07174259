// npm start: a page that offers a recorded day to watch, or to connect a project of one's own.
import { fileURLToPath } from 'node:url'

const bin = new URL('../bin/waymark.js', import.meta.url)
process.argv = [process.execPath, fileURLToPath(bin), 'demo', '--wait', ...process.argv.slice(2)]
await import(bin.href)
