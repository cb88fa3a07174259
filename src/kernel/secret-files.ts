import { rememberAnswers } from './limited-map.ts'

/** File names whose content is a secret, in lower case. */
const files = joinPatterns([
  // Environment files, also those of direnv and Docker.
  /^\.env([._-].*|rc)?$|\.env$/,
  // Private keys, certificates with keys, keystores, password databases, variables and state of infrastructure.
  /\.(pem|key|p8|p12|pfx|jks|keystore|kdbx|ppk|asc|tfstate|tfvars(\.json)?)$/,
  /^\.?id_(rsa|dsa|ecdsa|ed25519)([._-].*)?$|[._-](rsa|ed25519)$/,
  // Logins of programs.
  /^[._](npmrc|netrc|pypirc|pgpass|htpasswd|git-credentials|vault-token|my\.cnf|dockercfg)$|^pgpass\.conf$/,
  /(^|[._-])kubeconfig([._-].*)?$|service[._-]?account.*\.json$/,
])

/** Folders in which every file is a secret. */
const folders = /^\.(env([._-].*)?|aws|ssh|gnupg|kube|password-store)$/

const paths = /(^|\/)(\.docker\/config\.json$|\.?config\/(gcloud\/|gh\/hosts\.yml$))/

/** Words that mark data files as secret, but not source code. */
const wordInFile = /(^|[._-])(secret|credential|password|passwd|private[._-]?key)s?([._-]|$)/
const wordAsFolder = /^[._]?(secret|credential|password|private[._-]?key)s?$/
const data =
  /^\.?[^.]*$|\.(json.?|ya?ml|toml|ini|cfg|conf|config|properties|plist|xml|te?xt|csv|db|sqlite|gpg|enc|bin|dat)$/

/** Templates without secrets: `.env.example`. */
const template = /[._-](example|sample|template|dist)$|^(example|sample|template)\.env$/

const copyEnd = /([~#. ]|\.(bak|backup|orig|old|save|copy|sw[a-p]|tmp))$/

/**
 * Whether a file holds secrets, by its name or a folder above it, in any case. The content of such a file is never stored,
 * shown or sent: only its name, its hash and the fact that it changed.
 */
export const isSecretFile = rememberAnswers(5_000, (path: string): boolean => {
  const parts = path.toLowerCase().split(/[/\\]/).filter(Boolean).map(originalName)
  const name = parts.at(-1) ?? ''
  if (parts.some((part) => folders.test(part) && !template.test(part))) return true
  if (template.test(name)) return false
  if (files.test(name) || paths.test(parts.join('/'))) return true
  return (
    data.test(name) && (wordInFile.test(name) || parts.slice(0, -1).some((part) => wordAsFolder.test(part)))
  )
})

/** The original name of a backup copy: `.env` for `.env.bak`, `.env~`, `#.env#` and `..env.swp`. */
function originalName(name: string): string {
  let original = name.slice(-255)
  for (let shorter = withoutCopySuffix(original); shorter !== original; shorter = withoutCopySuffix(original))
    original = shorter
  return original.replace(/^#|^\.(?=\.)/, '')
}

function withoutCopySuffix(name: string): string {
  const shorter = name.replace(copyEnd, '')
  return shorter === '' ? name : shorter
}

function joinPatterns(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => `(?:${source})`).join('|'))
}
