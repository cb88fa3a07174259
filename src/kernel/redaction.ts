// Forms of secrets, the longest first: what one of them takes is not looked at again. A client waits while a text is read,
// so that none may begin within a long word anew at each of its characters.
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

// A name that says it, and its value: to the end of quotes, else to the next space.
const assigned =
  /((?<![\w.-])[\w.-]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)["']?\s*[=:]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"',;&|]+)/gi

const longRun = /[\w+/=.~-]{20,}/g

/** Characters that are looked at. */
const longest = 20_000

/** A text in which each secret that can be told by its form is replaced by its kind and length. Of a long one its start. */
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

/** The same of what a command printed: words and paths that only look like secrets stay, because they say what failed. */
export function redactOutput(text: string): string {
  return redactForms(text)
    .replace(ownToken, (found) => redactionMark('Waymark token', found.length))
    .replace(variable, (_, name: string, value: string) => `${name}${redactionMark('value', value.length)}`)
}

function redactionMark(kind: string, length: number): string {
  return `[redacted ${kind}, ${length} characters]`
}

/** As many bits in each character as words and paths never have. Ids of git are hex, which has four at most. */
function isRandom(run: string): boolean {
  if (/^[0-9a-f]+$/i.test(run)) return false
  const counts = new Map<string, number>()
  for (const character of run) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / run.length) * Math.log2(count / run.length)
  // Of twenty characters all different there are 4.3 bits, so a short run is measured against what it could have.
  return bits >= Math.min(4.5, Math.log2(run.length) - 0.2)
}
