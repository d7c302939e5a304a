import type { Context } from '../context.ts'
import { differingMigrations } from '../db/migrate.ts'
import { type Command, exitCodes } from './command.ts'
import { checkDatabase, checkWork } from './doctor-database.ts'
import { checkMachine } from './doctor-machine.ts'
import { checkEventStream, checkRootUrl } from './doctor-root-url.ts'
import { type Check, type Finding, fail, ok, warn } from './finding.ts'

async function checkMigrations({ db }: Context) {
  const { missing, unknown } = await differingMigrations(db)
  if (missing.length > 0) return fail(`Missing: ${missing.join(', ')}. Start this version once; it applies them.`)
  if (unknown.length > 0)
    return fail(
      `Not of this version: ${unknown.join(', ')}. Use the version of Baton that applied them, or a later one.`,
    )
  return ok('All are applied')
}

/** Runs all checks. One that cannot be made is a failure, and does not keep the others. */
export async function examine(ctx: Context): Promise<Finding[]> {
  const findings: Finding[] = []
  const run = async (checks: Record<string, Check>) => {
    for (const [check, find] of Object.entries(checks)) {
      const finding = await find(ctx).catch((error: Error) => fail(`Could not be checked: ${error.message}`))
      findings.push({ check, ...finding })
    }
  }
  await run({ ...checkMachine, ...checkDatabase, migrations: checkMigrations })
  // They read tables, which may be others if migrations differ.
  if (findings.at(-1)?.state === 'ok') {
    await run({ ...checkWork, 'root URL': checkRootUrl })
    const answers = findings.at(-1)?.state !== 'fail'
    await run({ 'event stream': answers ? checkEventStream : async () => warn('Not checked: see root URL.') })
  }
  return findings
}

export const doctor: Command = {
  name: 'doctor',
  usage: '',
  summary: 'Checks the installation and prints what to do. Exits 1 if a check fails.',
  parameters: {},
  needs: 'database',
  unchecked: true,
  async run({ ctx }) {
    const checks = await examine(ctx)
    const failed = checks.filter(({ state }) => state === 'fail').length
    return {
      exit: failed === 0 ? exitCodes.done : exitCodes.failed,
      json: { checks },
      text: [
        ...checks.map(({ check, state, message }) => `${state.padEnd(4)}  ${check}: ${message}`),
        failed === 0 ? 'No check failed' : `${failed} of ${checks.length} checks failed`,
      ],
    }
  },
}
