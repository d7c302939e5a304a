import type { RequirementId } from './ids.ts'

export type { RequirementId } from './ids.ts'

declare module 'vitest' {
  interface TaskMeta {
    verifies?: RequirementId[]
    needs?: 'postgres'
  }
}

/** test('…', verifies('http.list-shape'), …): the test verifies these requirements. */
export const verifies = (...ids: RequirementId[]) => ({ meta: { verifies: ids } })

/** The same for tests that need PostgreSQL, such as races between connections. Skipped on the embedded database. */
export const verifiesOnPostgres = (...ids: RequirementId[]) => ({
  skip: !process.env.DATABASE_URL,
  meta: { verifies: ids, needs: 'postgres' as const },
})
