/**
 * Tests that the soak run alone makes: several servers, kills, faults of a connection, and suites of third parties. Chance
 * and minutes are theirs. `npm test` keeps small cases: test/plan/concurrency has several processes and kills one,
 * test/contract/store/postgres/servers several servers, test/mcp both eras of the protocol against its schemas.
 */
export const longTests: readonly string[] = [
  'test/conformance/*.test.ts',
  'test/contract/store/postgres/{crash,faults,pooler,replicas}.test.ts',
  'test/contract/store/sqlite/processes.test.ts',
  'test/edge/replicas.test.ts',
  'test/gate/concurrency/*.test.ts',
  'test/http/several-servers.test.ts',
  'test/live/processes.test.ts',
  'test/mcp-http/inspector.test.ts',
]
