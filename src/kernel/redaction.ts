// Forms of secrets, the longest first: text matched by one is not tried again. A client waits meanwhile, so no form may
// start matching at each character of a long word.
const forms: readonly (readonly [kind: string, form: RegExp])[] = [
  ['private key', /-----BEGIN [A-Z0-9 ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g],
  ['JWT', /\beyJ[\w-]{8,400}\.[\w-]{8,}\.[\w-]*/g],
  ['AWS key', /\bA(?:KI|SI|GP|ID|RO|BI|CC)A[A-Z0-9]{16}\b/g],
  ['GitHub token', /\b(?:gh[pousr]_|github_pat_)\w{20,}/g],
  ['GitLab token', /\bgl[a-z]{2,5}-[\w.-]{16,}/g],
  ['Slack token', /\bxox[a-z]-[\w-]{10,}|\bxapp-[\w-]{10,}|https:\/\/hooks\.slack\.com\/[\w/]+/g],
  ['Anthropic key', /\bsk-ant-[\w-]{16,}/g],
  ['OpenAI key', /\bsk-[\w-]{16,}/g],
  ['Google key', /\bAIza[\w-]{30,}|\bya29\.[\w.-]{16,}/g],
  ['npm token', /\bnpm_\w{30,}/g],
]

const inAddress = /(\b[a-z][a-z0-9+.-]{0,9}:\/\/)([^\s/@:]*:[^\s/@]+)@/gi

// A name that marks a secret, and its value: to the end of quotes, else to the next space.
const assigned =
  /((?<![\w.-])[\w.-]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)["']?\s*[=:]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"',;&|]+)/gi

const longRun = /[\w+/=.~-]{20,}/g

/** Maximum length of the examined text. */
const longest = 20_000

/** Replaces each recognized secret by its kind and length; a long text is cut. */
export function redactSecrets(text: string): string {
  return redactForms(text.slice(0, longest))
    .replace(assigned, (whole, name: string, value: string) =>
      value.startsWith('[redacted') ? whole : `${name}${redactionMark('value', value.length)}`,
    )
    .replace(longRun, (run) => (isRandom(run) ? redactionMark('text', run.length) : run))
}

function redactForms(text: string): string {
  return forms
    .reduce((left, [kind, form]) => left.replace(form, (found) => redactionMark(kind, found.length)), text)
    .replace(
      inAddress,
      (_, scheme: string, login: string) => `${scheme}${redactionMark('login', login.length)}@`,
    )
}

const ownToken = /\bwm1_[0-9a-z]{12}_[\w-]{43}/g
const variable = /(\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)=)("[^"\n]*"|'[^'\n]*'|[^\s"';&|]+)/g

/** The same for output of commands: words and paths that only look like secrets stay, because they explain failures. */
export function redactOutput(text: string): string {
  return redactForms(text)
    .replace(ownToken, (found) => redactionMark('Waymark token', found.length))
    .replace(variable, (_, name: string, value: string) => `${name}${redactionMark('value', value.length)}`)
}

function redactionMark(kind: string, length: number): string {
  return `[redacted ${kind}, ${length} characters]`
}

/** Whether a text has more entropy than words and paths. Git ids are hex, with at most four bits per character. */
function isRandom(run: string): boolean {
  if (/^[0-9a-f]+$/i.test(run)) return false
  const counts = new Map<string, number>()
  for (const character of run) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / run.length) * Math.log2(count / run.length)
  // Twenty different characters have 4.3 bits, so a short run is compared with its maximum.
  return bits >= Math.min(4.5, Math.log2(run.length) - 0.2)
}
