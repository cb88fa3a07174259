import { expect, test } from 'vitest'
import { figureText, type StatisticsFigures } from './figure-text.ts'

test('no file out of scope is a figure without a number of attempts behind it', () => {
  const figuresOf = (files: number, attempts: number) =>
    ({ out_of_scope: { n: 4, files, attempts } }) as StatisticsFigures
  expect(figureText(figuresOf(0, 0), 'out_of_scope')).toMatchObject({ n: 4, text: '0', more: '' })
  expect(figureText(figuresOf(3, 1), 'out_of_scope')).toMatchObject({ text: '3', more: 'in 1 attempt' })
})
