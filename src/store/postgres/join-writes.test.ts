import { CompiledQuery } from 'kysely'
import { describe, expect, test } from 'vitest'
import { joinedQuestion, joinWrites } from './join-writes.ts'

function write(sql: string, ...parameters: unknown[]) {
  const table = /(?:into|update|from) "?(\w+)/.exec(sql)?.[1] ?? ''
  return { query: CompiledQuery.raw(sql, parameters), table }
}

const insertFact = write('insert into "fact" ("seq", "body") values ($1, $2)', 7, 'b')
const updateTask = write('update "task" set "status" = $1 where "id" = $2', 'open', 't-1')
const updateProject = write('update "project" set "seq" = $1', 7)

function joinedStatements(writes: Parameters<typeof joinWrites>[0], isWorthIt = (_sql: string) => true) {
  return joinWrites(writes, isWorthIt).map(({ sql, parameters }) => ({ sql, parameters }))
}

describe('writes in a row', () => {
  test('are one statement with the values of all, where each is of a table of its own', () => {
    expect(joinedStatements([insertFact, updateTask, updateProject])).toEqual([
      {
        sql:
          'with "w0" as (insert into "fact" ("seq", "body") values ($1, $2)), ' +
          '"w1" as (update "task" set "status" = $3 where "id" = $4) update "project" set "seq" = $5',
        parameters: [7, 'b', 'open', 't-1', 7],
      },
    ])
  })

  test('that change the same table, or read what one before them changes, begin another statement', () => {
    const counts = write('update "mission" set "tasks" = (select count(*) from "task")')
    expect(joinedStatements([insertFact, updateTask, updateTask, counts, updateProject])).toMatchObject([
      {
        sql: expect.stringMatching(/^with "w0" as \(insert.*update "task"/),
        parameters: [7, 'b', 'open', 't-1'],
      },
      { sql: updateTask.query.sql },
      { sql: expect.stringMatching(/^with "w0" as \(update "mission".* update "project" set "seq" = \$1$/) },
    ])
  })

  test('stay apart where they begin with tables of their own, have many values, or the whole is not worth it', () => {
    const raw = write('with wanted as (values ($1)) update task set height = 1', 't-1')
    const large = write(`insert into "change" values (${'$1, '.repeat(100)}$101)`, ...Array(101).fill(0))
    expect(joinedStatements([insertFact, raw, updateTask, large, updateProject])).toHaveLength(5)
    expect(joinedStatements([insertFact, updateTask], () => false)).toEqual([
      { sql: insertFact.query.sql, parameters: [7, 'b'] },
      { sql: updateTask.query.sql, parameters: ['open', 't-1'] },
    ])
  })

  test('keep what looks like a value inside a text or a name', () => {
    const odd = write(`update "odd$1" set "a" = '$1 isn''t $2' where "b" = $1`, 1)
    expect(joinedStatements([insertFact, odd])[0]?.sql).toContain(
      `update "odd$1" set "a" = '$1 isn''t $2' where "b" = $3`,
    )
  })
})

describe('questions asked together', () => {
  const tasks = CompiledQuery.raw('select "id", "open" from "task" where "project_id" = $1 limit $2', [
    'p',
    2,
  ])
  const holds = CompiledQuery.raw('select * from "hold" where "task_id" = $1', ['t-1'])
  const six = [tasks, holds, holds, holds, holds, holds]
  const worthIt = () => true

  test('are one, whose values are counted on and whose rows are told apart', () => {
    const one = joinedQuestion(six, worthIt)
    expect(one?.query.sql).toMatch(
      'select (select json_agg("q") from (select "id", "open" from "task" where "project_id" = $1 limit $2) as "q") as "q0", ' +
        '(select json_agg("q") from (select * from "hold" where "task_id" = $3) as "q") as "q1", ',
    )
    expect(one?.query.sql).toMatch(/"task_id" = \$7\) as "q"\) as "q5"$/)
    expect(one?.query.parameters).toEqual(['p', 2, 't-1', 't-1', 't-1', 't-1', 't-1'])
    const [found, missing] =
      one?.rowsOf({ rows: [{ q0: '[{"id":"a","open":true}, {"id":null,"open":1.5}]', q1: null }] }) ?? []
    expect(found).toEqual([
      { id: 'a', open: 1 },
      { id: null, open: 1.5 },
    ])
    expect(missing).toEqual([])
  })

  test('refuse a number that is not exact, as each of them would', () => {
    const rows = [{ q0: '[{"open":9007199254740993}]', q1: null }]
    expect(() => joinedQuestion(six, worthIt)?.rowsOf({ rows })).toThrow('beyond the numbers')
  })

  test('stay apart where they are few, a row is held, there are many values, or the whole is not worth it', () => {
    const holding = CompiledQuery.raw('select "id" from "project" where "id" = $1 for no key update', ['p'])
    const many = CompiledQuery.raw(`select ${'$1, '.repeat(100)}$101`, Array(101).fill(0))
    expect(joinedQuestion(six.slice(1), worthIt)).toBeNull()
    expect(joinedQuestion([...six, holding], worthIt)).toBeNull()
    expect(joinedQuestion([...six, many], worthIt)).toBeNull()
    expect(joinedQuestion(six, () => false)).toBeNull()
  })
})
