// Vitest tells its main process of each import of each module, for a graph that only its watch mode reads, and imports
// each test under a name of its own. Without either, modules load sooner, and Node finds what it compiled before.
import module from 'node:module'

const { registerHooks } = module
if (process.env.VITEST_MODE === 'RUN')
  module.registerHooks = (hooks) =>
    registerHooks(
      // Hooks that load are a test's own: they come here once a test shows its changes of modules to all imports.
      hooks.load
        ? hooks
        : { resolve: (specifier, context, next) => next(specifier.replace(/%3Fvitest=\d+$/, ''), context) },
    )
