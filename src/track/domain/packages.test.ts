import { expect, test } from 'vitest'
import { manifestPaths, missingPackages } from './packages.ts'

const node = '{ "dependencies": { "@scope/rate-limit": "^1.0.0", "zod": "4" } }'
const python = 'dependencies = ["Flask_Limiter[redis]>=3", "ruamel.yaml"]'

test('finds packages by their normalized names', () => {
  const added = [
    '@scope/rate-limit@1.2.3',
    'Zod',
    'flask-limiter[redis]==3.1',
    'ruamel-yaml',
    'npm:zod@4',
    'zod (^4)',
  ]
  expect(missingPackages(added, [node, python])).toEqual([])
})

test('names packages that no manifest has', () => {
  expect(missingPackages(['express', 'zod'], [node])).toEqual(['express'])
  expect(missingPackages(['org.slf4j:slf4j-api:2.0'], ['<artifactId>junit</artifactId>'])).toEqual([
    'org.slf4j:slf4j-api:2.0',
  ])
  expect(missingPackages(['limit'], ['"rate-limit": "1"'])).toEqual(['limit'])
})

test('does not judge without a manifest, nor what is no package of the project', () => {
  expect(missingPackages(['express'], [])).toEqual([])
  expect(missingPackages(['ffmpeg (apt)', 'https://example.com/x.tgz', '', 'two words'], [node])).toEqual([])
})

test('looks in folders and above them', () => {
  expect(manifestPaths(['packages/web/'])).toEqual(
    expect.arrayContaining(['package.json', 'packages/package.json', 'packages/web/Cargo.toml']),
  )
})
