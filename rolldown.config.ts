import { defineConfig } from 'rolldown'
import { laterParts } from './scripts/later-parts.mjs'
import { licences } from './scripts/licences.mjs'
import { startChunks } from './scripts/start-chunks.mjs'

/** The smaller of the two validators of the protocol's library: it reads what a person answered to one of our questions. */
const smallValidator = {
  name: 'small-validator',
  resolveId: (source: string) =>
    source === '@modelcontextprotocol/server/_shims' ? '\0small-validator' : null,
  load: (id: string) => (id === '\0small-validator' ? validatorSource : null),
}

const validatorSource = `
  export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker'
  export { default as process } from 'node:process'`

/**
 * Parts of libraries that nobody asks for here: threads that write the log and what hides fields of it, figures that several
 * processes add up or send, statements that change tables, merge rows or name a schema, a driver in C.
 */
const unusedParts: Readonly<Record<string, RegExp>> = {
  kysely:
    /^\.\/(?:schema\/schema-module|plugin\/with-schema\/with-schema-plugin|query-builder\/merge-query-builder)\.js$/,
  pg: /^\.\/native$/,
  pino: /^\.\/(?:lib\/)?(?:transport|redaction)$/,
  'prom-client': /^\.\/lib\/(?:cluster|pushgateway|summary)$/,
}

const withoutUnusedParts = {
  name: 'without-unused-parts',
  resolveId: (source: string, importer = '') =>
    Object.entries(unusedParts).some(
      ([library, parts]) =>
        parts.test(source) && importer.replaceAll('\\', '/').includes(`/node_modules/${library}/`),
    )
      ? '\0unused-part'
      : null,
  load: (id: string) =>
    id === '\0unused-part'
      ? `const refuse = () => { throw new Error('This part of a library is left out.') }
         export { refuse as default, refuse as MergeQueryBuilder, refuse as SchemaModule, refuse as WithSchemaPlugin }`
      : null,
}

/** Large libraries, each in one file for programs of both kinds of modules: its file, and what is used of it. */
const shared: Readonly<Record<string, readonly [file: string, names: string]>> = {
  // Expressions that a process or a person wrote run in linear time.
  re2js: ['linear-patterns', 'RE2JS'],
  pg: ['postgres-driver', 'Client, Pool'],
}

const sharedInOneFile = {
  name: 'shared-in-one-file',
  resolveId: (source: string) => (source in shared ? `\0shared:${source}` : null),
  load: (id: string) => {
    const [file, names] = shared[id.replace('\0shared:', '')] ?? []
    return id.startsWith('\0shared:')
      ? `import { createRequire } from 'node:module'
         export const { ${names} } = createRequire(import.meta.url)('./${file}.cjs')`
      : null
  },
}

/** The packages that those files hold. */
const sharedPackages = (
  're2js pg pg-connection-string pg-int8 pg-pool pg-protocol pg-types pgpass ' +
  'postgres-array postgres-bytea postgres-date postgres-interval split2 xtend'
).split(' ')

/** A server answers hooks with the code that they have themselves. */
const hookAnswer = {
  name: 'hook-answer',
  resolveId: (source: string) => (source.endsWith('/hook-answer.ts') ? '\0hook-answer' : null),
  load: (id: string) =>
    id === '\0hook-answer'
      ? `import { createRequire } from 'node:module'
         export const { answerHook } = createRequire(import.meta.url)('./hook-answer.cjs')`
      : null,
}

/** One entry, chunks that load when a command needs them, and the threads: one reads long definitions, one plans. */
const program = defineConfig({
  input: {
    waymark: 'src/app/main.ts',
    'definition-worker': 'src/gate/process-files/definition-worker.ts',
    'callers-worker': 'src/gate/commands/callers-worker.ts',
    'plan-worker': 'src/plan/import/plan-worker.ts',
  },
  platform: 'node',
  // The second is left out with what only helps who works on the libraries of `waymark top`.
  external: ['better-sqlite3', 'react-devtools-core'],
  transform: { define: { 'process.env.NODE_ENV': '"production"', 'process.env.DEV': '"false"' } },
  plugins: [
    licences('third-party-licences.txt', sharedPackages),
    smallValidator,
    withoutUnusedParts,
    sharedInOneFile,
    hookAnswer,
  ],
  // Its other form loads its parts by names that a bundle has not.
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    // All beside each other, because each reader finds its thread beside the chunk it is in. With a hash,
    // because a server that runs while we build loads its own chunks later.
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      groups: startChunks([
        { name: 'main', modules: ['src/app/main.ts', 'src/app/mcp.ts'] },
        { name: 'record', modules: ['src/store/store.ts', 'src/git/witness.ts', 'src/app/open-context.ts'] },
        { name: 'commands', modules: ['src/app/command-line.ts'] },
        // Commands that people type often, the smallest first.
        { name: 'log', modules: ['src/events/operations/event-log.ts'] },
        { name: 'status', modules: ['src/project/operations/status.ts'] },
        { name: 'show', modules: ['src/reports/operations/show.ts'] },
        { name: 'inbox', modules: ['src/inbox/operations/inbox.ts'] },
      ]),
    },
    minify: true,
    comments: false,
  },
})

/** A hook parses nothing by a schema. The shapes in modules that it shares with operations are left out: making them takes 25 ms. */
const withoutSchemas = {
  name: 'without-schemas',
  resolveId: (source: string) => (source === 'zod' ? '\0no-schemas' : null),
  load: (id: string) => (id === '\0no-schemas' ? noSchemas : null),
}

const noSchemas = `
  const refuse = (name) => { throw new Error('This program has no schemas: ' + name) }
  const shape = new Proxy(() => {}, {
    get: (_, name) => (/parse/i.test(String(name)) ? refuse(String(name)) : shape),
    apply: () => shape,
  })
  export { shape as z }`

/** What clients ask before each call of a tool, which waits for it: of the older kind of modules too. */
const hook = defineConfig({
  input: { 'waymark-hook': 'src/app/hook.ts', 'hook-answer': 'src/app/hook-answer.ts' },
  platform: 'node',
  external: ['better-sqlite3'],
  transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  plugins: [
    // Few expressions need the patterns, and making their tables takes 5 ms.
    laterParts(/^node:|^\.\/linear-patterns|^\.\/postgres-driver/),
    withoutSchemas,
    withoutUnusedParts,
    {
      name: 'shared-outside',
      resolveId: (source: string) => {
        const [file] = shared[source] ?? []
        return file === undefined ? null : { id: `./${file}.cjs`, external: true }
      },
    },
  ],
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'hook-[name]-[hash].cjs',
    codeSplitting: {
      groups: [
        // Each file takes half a millisecond to find, so there are few: what judges, what reads a record on this machine,
        // what guards git commands that may destroy work, and what checks the work of an agent that stops.
        ...startChunks([
          { name: 'judging', modules: ['src/app/hook.ts'] },
          { name: 'record', modules: ['src/store/store.ts', 'src/store/random-ids.ts'] },
          { name: 'guard', modules: ['src/app/git-guard.ts'] },
          { name: 'stop', modules: ['src/track/operations/stop-check.ts'] },
        ]),
      ],
    },
    minify: true,
    comments: false,
  },
})

/** What clients run at each event: all in one small file, because nothing may load beside it, and of the older kind of modules, which Node starts 10 ms sooner. */
const capture = defineConfig({
  input: { 'waymark-capture': 'src/sessions/capture/hook/capture-main.ts' },
  platform: 'node',
  // `fs.lstatSync(path)` in place of `(0, fs.lstatSync)(path)`: Node's functions are the same either way.
  plugins: [{ name: 'plain-calls', renderChunk: (code) => code.replace(/\(0, (\w+\.\w+)\)/g, '$1') }],
  output: { dir: 'dist', format: 'cjs', entryFileNames: '[name].cjs', minify: true, comments: false },
})

const libraries = Object.entries(shared).map(([name, [file, names]]) =>
  defineConfig({
    input: { [file]: file },
    platform: 'node',
    plugins: [
      withoutUnusedParts,
      {
        name: 'entry',
        resolveId: (source: string) => (source === file ? `\0${file}` : null),
        load: (id: string) => (id === `\0${file}` ? `export { ${names} } from '${name}'` : null),
      },
    ],
    output: { dir: 'dist', format: 'cjs', entryFileNames: '[name].cjs', minify: true, comments: false },
  }),
)

export default [program, hook, capture, ...libraries]
