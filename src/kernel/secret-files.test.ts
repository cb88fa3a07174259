import { expect, test } from 'vitest'
import { processorTime } from '../../test/support/processor-time.ts'
import { isSecretFile } from './secret-files.ts'

const secret = [
  '.env',
  '.ENV',
  'a/b/.Env.Local',
  '.env.production',
  '.env_prod',
  '.env-staging',
  '.envrc',
  'deploy/prod.env',
  '.env/prod',
  '.env.bak',
  '.env~',
  '#.env#',
  '..env.swp',
  '.env. ',
  'a\\.env',
  'a/server.pem',
  'Deploy.KEY',
  'deploy.key.old',
  'cert.p12',
  'cert.pfx',
  'app.jks',
  'release.keystore',
  'id_rsa',
  'id_ed25519_sk',
  'keys/id_ecdsa.bak',
  'deploy_ed25519',
  '.npmrc',
  '.netrc',
  '_netrc',
  '.pypirc',
  '.pgpass',
  '.htpasswd',
  '.git-credentials',
  '.vault-token',
  'kubeconfig',
  'prod.kubeconfig',
  '.kube/config',
  'home/.docker/config.json',
  '.aws/credentials',
  '.aws/config',
  '.ssh/config',
  '.gnupg/pubring.kbx',
  'infra/prod.tfvars',
  'infra/prod.auto.tfvars.json',
  'terraform.tfstate.backup',
  'my-service-account-key.json',
  'serviceAccount.json',
  'gcp-credentials.json',
  'application_default_credentials.json',
  'config/gcloud/access_tokens.db',
  'credentials',
  'secrets.yaml',
  'client_secret.json',
  'secrets/prod.yaml',
  'passwords.txt',
]

const open = [
  '.env.example',
  '.env.sample',
  '.env.template',
  'a/.ENV.EXAMPLE',
  'example.env',
  'prod.tfvars.example',
  'src/env.ts',
  'environment.ts',
  'src/env/config.json',
  'src/passwords.ts',
  'test/credentials.test.ts',
  'src/secrets/index.ts',
  'src/password-reset/messages.json',
  'docs/keys.md',
  'keyboard.json',
  'package.json',
  'crypto_rsa/main.go',
  'config.json',
  'kube/config',
  'README',
  '',
  '..',
]

test.each(secret)('treats %j as a secret file', (path) => {
  expect(isSecretFile(path)).toBe(true)
})

test.each(open)('does not treat %j as a secret file', (path) => {
  expect(isSecretFile(path)).toBe(false)
})

test('checks a very long path in linear time', async () => {
  const parts = ['.', ' ', '.bak', 'secret-', '.env', 'a/', '_rsa']
  const check = () => parts.map((part) => isSecretFile(part.repeat(200_000)))
  expect(await processorTime(check)).toBeLessThan(2000)
})
