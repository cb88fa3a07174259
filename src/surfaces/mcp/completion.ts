import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server'
import type { Store } from '../../ports/store.ts'
import { findPrompt } from './prompts/prompts.ts'
import { missionTemplate } from './resources/resource-uri.ts'

const most = 50

/** What the beginning of an argument may become: the ids that begin with it, or the words of a choice. */
export async function complete(
  { ref, argument }: CompleteRequest['params'],
  store: Store,
): Promise<CompleteResult> {
  if (ref.type === 'ref/prompt') {
    const asked = findPrompt(ref.name).arguments.find(({ name }) => name === argument.name)
    if (asked?.completes === 'missions') return completion(await missionIds(store, argument.value))
    return completion((asked?.completes ?? []).filter((word) => word.startsWith(argument.value)))
  }
  if (argument.name === 'run_id') return completion(await runIds(store, argument.value))
  if (argument.name !== 'id') return completion([])
  const ids = ref.uri === missionTemplate ? missionIds : taskIds
  return completion(await ids(store, argument.value))
}

function missionIds(store: Store, prefix: string): Promise<readonly string[]> {
  return store.view(({ missions }) => missions.idsLike(prefix, most + 1))
}

function runIds(store: Store, prefix: string): Promise<readonly string[]> {
  return store.view(({ runs }) => runs.idsLike(prefix, most + 1))
}

function taskIds(store: Store, prefix: string): Promise<readonly string[]> {
  return store.view(({ tasks }) => tasks.idsLike(prefix, most + 1))
}

function completion(values: readonly string[]): CompleteResult {
  return { completion: { values: values.slice(0, most), hasMore: values.length > most } }
}
