const names =
  /^(\.env(\..*)?|.*\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc)|id_(rsa|dsa|ecdsa|ed25519).*|\.(npmrc|netrc|pypirc|pgpass|htpasswd|git-credentials))$/i
const words = /(^|[._-])(secrets?|credentials?|passwords?|passwd|private[._-]?keys?)([._-]|$)/i

/** Whether a file's name says that it holds secrets: nothing of its lines is kept, not even hashes. */
export function isSecretLike(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return names.test(name) || words.test(name)
}
