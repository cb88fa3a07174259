import type { TaskData } from '../api/entities.ts'

/** Criteria, checks, and files that must or must not change. */
export function PromiseEntries({ of }: { readonly of: NonNullable<TaskData['done_when']> }) {
  const checks = (of.check ?? []).map((check) => (typeof check === 'string' ? check : check.run))
  return (
    <ul>
      {(of.criteria ?? []).map((criterion) => (
        <li key={criterion}>{criterion}</li>
      ))}
      <Codes word="Check" values={checks} />
      <Codes word="Changes" values={of.changes ?? []} />
      <Codes word="Keeps" values={of.keeps ?? []} />
      <Codes word="Left out by an agent:" values={(of.left_out ?? []).map(({ text }) => text)} />
    </ul>
  )
}

function Codes({ word, values }: { readonly word: string; readonly values: readonly string[] }) {
  return (
    <>
      {values.map((value) => (
        <li key={value}>
          {word} <code>{value}</code>
        </li>
      ))}
    </>
  )
}
