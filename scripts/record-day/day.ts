import { payAtCheckout, showBalance } from './checkout.ts'
import { buildGiftCards } from './gift-cards.ts'
import { writePlan } from './plan.ts'
import { buildSearch } from './search.ts'
import { report, type Team } from './team.ts'

/** The day: one agent plans, then three work side by side, each in a work tree of its own. */
export async function liveThroughDay(team: Team): Promise<void> {
  const { repository, think } = team
  const checkout = repository.workTree('checkout')
  const search = repository.workTree('search')
  const claude = await team.join('claude-code', repository.main)
  const codex = await team.join('codex', checkout)
  const cursor = await team.join('cursor', search)
  report('claude-code writes the plan')
  await writePlan(team, claude)
  await think(4)
  const payment = Promise.withResolvers<void>()
  await Promise.all([
    buildGiftCards(team, claude, {
      onMission: (missionId) => {
        payAtCheckout(team, codex, { tree: checkout, missionId }).then(payment.resolve, payment.reject)
      },
      paid: payment.promise,
    }),
    think(12).then(() => buildSearch(team, cursor, search)),
    payment.promise.then(() => showBalance(team, codex, checkout)),
  ])
  report('Tess merges the search')
  repository.main.git('merge', '--quiet', '--no-edit', 'search')
  team.person('landed')
}
