/** A verb of change, and what its prepositions say about a path. */
export interface ChangeVerb {
  /** Its object comes into being. */
  readonly creates: boolean
  /** `to` leads to a changed file: "added a test to a.ts", not "changed the path to a.ts". */
  readonly reachesTo: boolean
  /** `from` names a changed file. */
  readonly takesFrom: boolean
  /** `to` names the new path of its object. */
  readonly renames: boolean
  /** What was failing in a file may have been fixed elsewhere. */
  readonly fixes: boolean
}

type VerbForm = 'base' | 'present' | 'past' | 'participle'

const plain: ChangeVerb = {
  creates: false,
  reachesTo: false,
  takesFrom: false,
  renames: false,
  fixes: false,
}
const adds: ChangeVerb = { ...plain, creates: true, reachesTo: true }
const creates: ChangeVerb = { ...plain, creates: true }
const removes: ChangeVerb = { ...plain, takesFrom: true }
const renames: ChangeVerb = { ...plain, renames: true, reachesTo: true, takesFrom: true }
const joins: ChangeVerb = { ...plain, reachesTo: true }
const fixes: ChangeVerb = { ...plain, fixes: true }

/** Only that its object is there: it may be as before. In "generated files are …" it is no verb. */
export const generates: ChangeVerb = { ...plain }

const verbs: readonly (readonly [ChangeVerb, string])[] = [
  [adds, 'add'],
  [creates, 'create scaffold introduce author'],
  [{ ...adds, reachesTo: false }, 'write/wrote/written'],
  [removes, 'delete remove strip drop prune export'],
  [renames, 'rename move relocate'],
  [{ ...plain, reachesTo: true, takesFrom: true }, 'extract split/split/split'],
  [joins, 'append prepend apply insert wire'],
  [fixes, 'fix correct repair'],
  [
    plain,
    'update change edit modify refactor rewrite/rewrote/rewritten replace extend implement adjust patch convert ' +
      'migrate simplify rework restructure bump tweak improve expand port inline tighten harden deduplicate ' +
      'document annotate enhance reorganize reword rearrange overhaul clean adapt amend consolidate pin register ' +
      'increase decrease raise lower enable disable switch upgrade downgrade reduce unify put/put place',
  ],
]

const forms = new Map<string, readonly (readonly [VerbForm, ChangeVerb])[]>()

function addForm(text: string, form: VerbForm, verb: ChangeVerb): void {
  forms.set(text, [...(forms.get(text) ?? []), [form, verb]])
}

for (const [verb, names] of verbs) {
  for (const name of names.split(' ')) {
    const [base = '', past, perfect] = name.split('/')
    const stem = base.replace(/e$/, '')
    const doubled = /^(?:drop|strip|wrap|split|put)$/.test(base) ? `${base}${base.at(-1)}` : stem
    const regular = base.endsWith('e')
      ? `${base}d`
      : /[^aeiou]y$/.test(base)
        ? `${base.slice(0, -1)}ied`
        : `${doubled}ed`
    addForm(base, 'base', verb)
    addForm(
      /[^aeiou]y$/.test(base)
        ? `${base.slice(0, -1)}ies`
        : /(?:x|sh|ch|ss)$/.test(base)
          ? `${base}es`
          : `${base}s`,
      'present',
      verb,
    )
    addForm(past ?? regular, 'past', verb)
    if (perfect !== undefined && perfect !== past) addForm(perfect, 'past', verb)
    addForm(`${doubled}ing`, 'participle', verb)
  }
}

/** The verb of change that a word is in this form; null for any other word. */
export function changeVerb(word: string, form: VerbForm): ChangeVerb | null {
  return forms.get(word)?.find(([one]) => one === form)?.[1] ?? null
}
