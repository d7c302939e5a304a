import { resolve } from 'node:path'
import { systemClock } from '../clock.ts'
import { type Config, ConfigError } from '../config.ts'
import { Keyring } from '../crypto.ts'
import { keyFileIn, readKeyFile } from '../db/key-file.ts'
import { checkFiles } from '../files/check.ts'
import { linkUrl } from '../login/links.ts'
import { signOperatorLink } from '../login/operator-link.ts'
import { needsSso } from '../login/sso-only.ts'
import { asItsUser, type Command, exitCodes, isForbidden } from './command.ts'

export const resetLink: Command = {
  name: 'reset-link',
  usage: 'E-MAIL',
  summary:
    'Prints a link with which the user of this e-mail address sets a new password. It works once, within one hour.',
  parameters: { 'e-mail': { kind: 'text', positional: true, required: true } },
  // Also works while a service on the embedded database runs in another container.
  needs: 'configuration',
  async run({ arguments: args, config }) {
    const email = args.text('e-mail').toLowerCase()
    if (!/^[^@\s]+@[^@\s]+$/.test(email)) throw new ConfigError(`${email} is not an e-mail address`)
    if (needsSso(config, email)) {
      throw new ConfigError('With BATON_SSO_ONLY=1 only the account of BATON_BREAK_GLASS has a password')
    }
    const keys = new Keyring(secretKeyOf(config))
    const url = linkUrl(config, 'reset', signOperatorLink(keys, { email, issuedAt: systemClock.now() }))
    return { json: { url }, text: [url] }
  },
}

function secretKeyOf({ secretKey, database }: Config): Buffer {
  if (secretKey) return secretKey
  const file = keyFileIn(resolve(database.kind === 'embedded' ? database.dataDir : '.'))
  try {
    return readKeyFile(file)
  } catch (error) {
    if (isForbidden(error)) throw new ConfigError(`${file} cannot be read by this user. ${asItsUser}`)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new ConfigError(
      `BATON_SECRET_KEY is not set, and ${file} does not exist: run this with the service's settings`,
    )
  }
}

export const filesCheck: Command = {
  name: 'files-check',
  usage: '[--content]',
  summary:
    'Compares the files in the database with those in BATON_FILES_DIR or the S3 bucket, and prints what is missing or left over. --content also reads every file.',
  parameters: { content: { kind: 'flag' } },
  needs: 'database',
  async run({ arguments: args, ctx }) {
    const { db, storage, clock } = ctx
    if (!storage) throw new ConfigError('BATON_FILES_DIR and BATON_S3_URL are not set: this instance stores no files')
    const problems: { key: string; problem: string }[] = []
    for await (const { key, problem } of checkFiles(db, storage, clock.now(), { content: args.has('content') })) {
      problems.push({ key, problem })
    }
    return {
      exit: problems.length === 0 ? exitCodes.done : exitCodes.failed,
      json: { problems },
      text: [
        ...problems.map(({ key, problem }) => `${key}: ${problem}`),
        problems.length === 0 ? 'All files are complete' : `${problems.length} problems`,
      ],
    }
  },
}
