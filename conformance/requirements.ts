import requirements from './requirements.json' with { type: 'json' }

/** One id per requirement. A test that cites an id that does not exist does not compile. */
export type RequirementId = keyof typeof requirements

declare module 'vitest' {
  interface TaskMeta {
    verifies?: RequirementId[]
    needs?: 'postgres'
  }
}

/** test('…', verifies('http.list-shape'), …): the test shows these requirements to hold. */
export const verifies = (...ids: RequirementId[]) => ({ meta: { verifies: ids } })

/** The same for what only PostgreSQL can show, such as races between connections. Skipped on the embedded database. */
export const verifiesOnPostgres = (...ids: RequirementId[]) => ({
  skip: !process.env.DATABASE_URL,
  meta: { verifies: ids, needs: 'postgres' as const },
})
