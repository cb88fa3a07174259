import { expect, test } from 'vitest'
import { plainSpelling } from './shell-word.ts'

test.each([
  ['npm  test ', 'npm test'],
  ['\tnpm "test"', 'npm test'],
  [`npm 'run'  'a b'  "c  d"`, `npm run 'a b' "c  d"`],
  [`echo a'b  c'd  e`, `echo a'b  c'd e`],
])('spells a line plainly: %s', (line, plain) => {
  expect(plainSpelling(line)).toBe(plain)
})

test.each([
  '"if" x',
  'time "-p" x',
  '"export" A=*',
  'A="x" npm test',
  '"A=1" x',
  'echo "2">file',
  'echo "a  b',
  "it's  a",
  'echo \\  x',
  'echo "$A"  x',
  'npm test # "x"  y',
  'cat <<E\n a  b\nE',
  '[[ a =~ "b.c" ]]',
  'a\u00a0b',
  '"" a',
])('keeps what may mean something else: %s', (line) => {
  expect(plainSpelling(line)).toBe(line)
})
