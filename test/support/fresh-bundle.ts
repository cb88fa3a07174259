import { buildBundle } from '../../scripts/bundle.mjs'

/** Tests that run the program run what is built from the present sources. Where that fails, they fail one by one. */
export function setup(): void {
  buildBundle()
}
