import { expect, test } from 'vitest'
import { layerOf } from './layers.ts'
import { filesBelow } from './source-files.ts'

const files = filesBelow('web', '.ts', '.tsx').filter(({ path }) => !path.endsWith('.test.ts'))

test('the dashboard runs no code of the server: of src it imports types, pure modules, and the client', () => {
  const wrong = files.flatMap(({ path, imports }) =>
    imports
      .filter(({ target, typeOnly }) => target.startsWith('src/') && !typeOnly && !isAllowed(target))
      .map(({ target }) => `${path} imports ${target}`),
  )
  expect(files.length).toBeGreaterThan(50)
  expect(wrong).toEqual([])
})

function isAllowed(target: string): boolean {
  return layerOf(target) === 'domain' || target.startsWith('src/surfaces/http/client/')
}

test('the dashboard is made of a few packages, and of none that needs another framework', () => {
  const packages = [
    'preact',
    '@preact/signals',
    '@leeoniya/ufuzzy',
    '@dagrejs/dagre',
    // Words within lines, and syntax colours: they come with the page of a review.
    'diff',
    'highlight.js',
    // A text, read when the site is built.
    'docs/glossary.md?raw',
  ]
  const wrong = files.flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => !/^(src|web)\//.test(target) && !packages.includes(target))
      .map(({ target }) => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('nothing writes markup from text', () => {
  const markup = new RegExp(
    ['inner' + 'HTML', 'outer' + 'HTML', 'insertAdjacent' + 'HTML', 'document\\.write'].join('|'),
  )
  expect(files.filter(({ text }) => markup.test(text)).map(({ path }) => path)).toEqual([])
})
