import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A plan of a small web shop, midway, as `waymark plan export` writes it. */
export function shopPlan(): string {
  return readFileSync(join(import.meta.dirname, 'shop-plan.json'), 'utf8')
}
