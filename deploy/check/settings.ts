import { readConfig, unknownVariables } from '../../server/src/config.ts'

/** A secret from a file is set with the name of its variable and this suffix. */
const fromFile = /_FILE$/

/**
 * Names that Baton does not know, among the variables of a deployment. Throws what the start would print if a value is
 * invalid. `secrets` has a value for each variable that comes from a file.
 */
export function unknownSettings(variables: Record<string, string>, secrets: Record<string, string>): string[] {
  const env = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      const plain = name.replace(fromFile, '')
      return plain in secrets ? [plain, secrets[plain]] : [name, value]
    }),
  )
  readConfig(env)
  return unknownVariables(env)
}

export const exampleSecrets = {
  DATABASE_URL: 'postgres://baton:password@db:5432/baton',
  BATON_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
}
