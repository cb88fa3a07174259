// Vitest tells its main process of each import of each module, for a graph that only its watch mode reads, and imports
// each test under a name of its own. Without either, modules load sooner, and Node finds what it compiled before.
import module from 'node:module'

const { registerHooks } = module
if (process.env.VITEST_MODE === 'RUN')
  module.registerHooks = () =>
    registerHooks({
      resolve: (specifier, context, next) => next(specifier.replace(/%3Fvitest=\d+$/, ''), context),
    })
