import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

// Preloaded by the test of the start: writes down, with the first answer, what had been loaded by then.
const modules = []
registerHooks({
  load(url, context, next) {
    modules.push(url)
    return next(url, context)
  },
})
const write = process.stdout.write.bind(process.stdout)
process.stdout.write = (...answer) => {
  const builtins = process.moduleLoadList.flatMap((line) => line.split('NativeModule ')[1] ?? [])
  writeFileSync(process.env.WHAT_LOADS, JSON.stringify({ modules: [...modules], builtins }))
  process.stdout.write = write
  return write(...answer)
}
