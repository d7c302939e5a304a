import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { account as accountOptions, type Call, type Option, text } from '../command.ts'
import { UsageError } from '../failure.ts'
import { allowedByDefault, toolKinds } from './permission.ts'
import { takesArgument } from './plain.ts'
import { splitCommand } from './text.ts'
import type { ToolSet } from './tools.ts'

const flag = (about: string): Option => ({ type: 'boolean', about })
const value = (name: string, about: string): Option => ({ type: 'string', value: name, about })

/** The flags of `baton run`; in a file of --config they are written in camelCase. */
export const runOptions: Record<string, Option> = {
  ...accountOptions,
  name: value('NAME', 'name of the app (default: file name of COMMAND)'),
  teams: value('KEYS', 'teams to install it for at the first start, such as ENG,OPS (default: all)'),
  request: flag('request the installation, if you may not install apps'),
  tokens: value('FILE', 'tokens that a manager copied as .env after installing the app'),
  state: value('DIR', 'directory for secrets, journal and worktrees'),
  repo: value('DIR', 'repository to work on (default: here)'),
  'no-git': flag('work in the directory itself, one turn at a time, without branch and changes'),
  base: value('REF', 'where branches start (default: origin/HEAD as known here, or HEAD)'),
  fetch: flag('fetch origin before a session starts'),
  setup: value('CMD', 'command to run in each new worktree, at most 10 minutes'),
  submodules: flag('initialise submodules in each new worktree'),
  'no-commit': flag('leave changes uncommitted after a turn'),
  push: value('REMOTE', 'push the branch after each turn, never with force'),
  pr: flag('open a draft pull request with gh or glab after the first push'),
  'pr-url': value('TEMPLATE', 'link to a pull request, with {base} {branch} {identifier}'),
  plain: flag('COMMAND does not speak ACP: prompt on stdin or as {prompt}, answer on stdout'),
  'follow-up': value('CMD', 'with --plain: command for later messages, such as "claude -p --continue"'),
  mode: value('ID', "the agent's mode"),
  model: value('ID', "the agent's model"),
  tools: value('SET', "Baton's tools for the agent: read, all or none (default: read)"),
  allow: value('KINDS', `what needs no question (default: ${allowedByDefault.join(',')})`),
  refuse: value('KINDS', 'what is refused without a question'),
  people: value('EMAILS', 'follow only these people'),
  'answer-timeout': value('TIME', 'refuse a question that is not answered (default: 24h)'),
  parallel: value('N', 'turns at once, 1 to 16 (default: 2)'),
  idle: value('TIME', 'end an agent process after its last turn (default: 10m)'),
  silence: value('TIME', 'cancel a turn without a sign of the agent (default: 30m)'),
  'turn-limit': value('TIME', 'cancel a turn that takes longer (default: 2h)'),
  'clean-env': flag('give the agent only PATH, HOME, LANG, TERM, TMPDIR and --env'),
  env: value('NAMES', 'with --clean-env: further variables'),
  redact: value('NAMES', 'further variables whose values are never shown'),
  config: value('FILE', 'JSON with these flags, command and repositories'),
  once: flag("do one session's first turn and exit: 0 response, 1 error or Stop, 3 no answer"),
  issue: value('ID', 'open the session on this issue; with --once'),
  debug: flag('log ACP messages in the state directory, without secrets'),
}

/** A repository of --config, or the one of --repo. */
export interface RepositorySettings {
  path: string
  /** Name as in the repository hints of a team. */
  repository: string | null
  teams: string[]
  projects: string[]
  base: string | undefined
  setup: string | undefined
  push: string | undefined
}

export interface Settings {
  command: string[]
  name: string
  teams: string | undefined
  request: boolean
  tokens: string | undefined
  repositories: RepositorySettings[]
  noGit: boolean
  fetch: boolean
  submodules: boolean
  commit: boolean
  pr: boolean
  prUrl: string | undefined
  plain: boolean
  followUp: string[] | undefined
  mode: string | undefined
  model: string | undefined
  tools: ToolSet
  allow: string[]
  refuse: string[]
  people: string[] | undefined
  answerTimeoutMs: number
  parallel: number
  idleMs: number
  silenceMs: number
  turnLimitMs: number
  cleanEnv: boolean
  env: string[]
  redact: string[]
  once: boolean
  issue: string | undefined
  debug: boolean
}

type Values = Record<string, unknown>
const repositoryKeys = ['path', 'repository', 'teams', 'projects', 'base', 'setup', 'push']
const camelCase = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The flags of the call, completed by --config. Throws a UsageError for anything unknown or invalid. */
export function readSettings(call: Pick<Call, 'values' | 'rest'>): Settings {
  const file = text(call, 'config')
  const config = file === undefined ? {} : readConfigFile(file)
  const given: Values = { ...config }
  for (const name of Object.keys(runOptions)) {
    const one = call.values[name]
    if (one !== undefined) given[camelCase(name)] = one
  }
  const at = (key: string) => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  const string = (key: string): string | undefined => {
    const one = given[key]
    if (one === undefined) return undefined
    if (typeof one === 'string' || typeof one === 'number') return String(one)
    throw new UsageError(`${at(key)} must be a text.`)
  }
  const boolean = (key: string): boolean => {
    const one = given[key] ?? false
    if (typeof one === 'boolean') return one
    throw new UsageError(`${at(key)} must be true or false.`)
  }
  const list = (key: string) => listOf(given[key], at(key))
  const duration = (key: string, standard: string) => durationMs(string(key) ?? standard, at(key))

  const command = call.rest.length > 0 ? call.rest : commandOf(config.command)
  if (command.length === 0) throw new UsageError('COMMAND is missing. Give it after --, or as `command` in --config.')
  const plain = boolean('plain')
  const followUp = string('followUp')
  if (followUp !== undefined && !plain) throw new UsageError('--follow-up needs --plain.')
  if (plain && process.platform === 'win32' && takesArgument(command) && /\.(cmd|bat)$/i.test(command[0] ?? '')) {
    throw new UsageError('{prompt} cannot be given to a .cmd file: a shell would interpret it. Use stdin.')
  }
  const tools = string('tools') ?? 'read'
  if (!['read', 'all', 'none'].includes(tools)) throw new UsageError(`--tools must be read, all or none, not ${tools}.`)
  const parallel = Number(string('parallel') ?? 2)
  if (!Number.isInteger(parallel) || parallel < 1 || parallel > 16) {
    throw new UsageError(`--parallel must be a whole number from 1 to 16, not ${string('parallel')}.`)
  }
  const noGit = boolean('noGit')
  const people = list('people')
  const settings: Settings = {
    command,
    name: string('name') ?? basename(command[0] ?? '').replace(/\.(exe|cmd|bat|[cm]?js)$/i, ''),
    teams: list('teams')?.join(','),
    request: boolean('request'),
    tokens: string('tokens'),
    repositories: repositoriesOf(config.repositories, {
      path: string('repo'),
      base: string('base'),
      setup: string('setup'),
      push: string('push'),
    }),
    noGit,
    fetch: boolean('fetch'),
    submodules: boolean('submodules'),
    commit: !boolean('noCommit'),
    pr: boolean('pr'),
    prUrl: string('prUrl'),
    plain,
    followUp: followUp === undefined ? undefined : splitCommand(followUp),
    mode: string('mode'),
    model: string('model'),
    tools: tools as ToolSet,
    allow: kindsOf(list('allow') ?? allowedByDefault, '--allow'),
    refuse: kindsOf(list('refuse') ?? [], '--refuse'),
    people,
    answerTimeoutMs: duration('answerTimeout', '24h'),
    // In one directory only one turn can work at a time.
    parallel: noGit ? 1 : parallel,
    idleMs: duration('idle', '10m'),
    silenceMs: duration('silence', '30m'),
    turnLimitMs: duration('turnLimit', '2h'),
    cleanEnv: boolean('cleanEnv'),
    env: list('env') ?? [],
    redact: list('redact') ?? [],
    once: boolean('once'),
    issue: string('issue'),
    debug: boolean('debug'),
  }
  if (settings.issue !== undefined && !settings.once) throw new UsageError('--issue needs --once.')
  if (settings.prUrl !== undefined) checkTemplate(settings.prUrl)
  return settings
}

function readConfigFile(path: string): Values {
  let config: unknown
  try {
    config = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new UsageError(`${path} could not be read: ${(error as Error).message}`)
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new UsageError(`${path} is not a JSON object.`)
  const known = [...Object.keys(runOptions).map(camelCase), 'command', 'repositories']
  const unknown = Object.keys(config).find((key) => !known.includes(key) || key === 'config')
  if (unknown !== undefined) throw new UsageError(`${path} has an unknown key ${unknown}. Known: ${known.join(', ')}.`)
  return config as Values
}

function commandOf(given: unknown): string[] {
  if (given === undefined) return []
  if (typeof given === 'string') return splitCommand(given)
  if (Array.isArray(given) && given.every((word) => typeof word === 'string')) return given
  throw new UsageError('command must be a list of texts.')
}

function listOf(given: unknown, name: string): string[] | undefined {
  if (given === undefined) return undefined
  const items = typeof given === 'string' ? given.split(',') : given
  if (!Array.isArray(items) || !items.every((item) => typeof item === 'string')) {
    throw new UsageError(`${name} must be a list of texts.`)
  }
  return items.map((item) => item.trim()).filter(Boolean)
}

function repositoriesOf(
  given: unknown,
  flags: Partial<Record<'path' | 'base' | 'setup' | 'push', string | undefined>>,
): RepositorySettings[] {
  const { path = '.', base, setup, push } = flags
  if (given === undefined || flags.path !== undefined) {
    return [{ path: resolve(path), repository: null, teams: [], projects: [], base, setup, push }]
  }
  if (!Array.isArray(given) || given.length === 0)
    throw new UsageError('repositories must be a list with at least one entry.')
  return given.map((one: unknown, n) => {
    const at = `repositories[${n}]`
    if (typeof one !== 'object' || one === null) throw new UsageError(`${at} is not a JSON object.`)
    const entry = one as Values
    const unknown = Object.keys(entry).find((key) => !repositoryKeys.includes(key))
    if (unknown !== undefined)
      throw new UsageError(`${at} has an unknown key ${unknown}. Known: ${repositoryKeys.join(', ')}.`)
    const string = (key: string): string | undefined => {
      const one = entry[key]
      if (one === undefined || typeof one === 'string') return one
      throw new UsageError(`${at}.${key} must be a text.`)
    }
    const directory = string('path')
    if (!directory) throw new UsageError(`${at}.path is missing.`)
    return {
      path: resolve(directory),
      repository: string('repository') ?? null,
      teams: listOf(entry.teams, `${at}.teams`) ?? [],
      projects: listOf(entry.projects, `${at}.projects`) ?? [],
      base: base ?? string('base'),
      setup: setup ?? string('setup'),
      push: push ?? string('push'),
    }
  })
}

function kindsOf(kinds: string[], name: string): string[] {
  const unknown = kinds.find((kind) => !toolKinds.includes(kind))
  if (unknown !== undefined)
    throw new UsageError(`${name} has an unknown kind ${unknown}. Known: ${toolKinds.join(', ')}.`)
  return kinds
}

const unitMs: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A time such as `90s`, `10m`, `24h` or `7d`. */
export function durationMs(given: string, name: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(given) ?? []
  if (!count || !unit || Number(count) === 0)
    throw new UsageError(`${name} must be a time such as 90s, 10m or 24h, not ${given}.`)
  return Number(count) * (unitMs[unit] ?? 0)
}

/** Fills in the template with encoded values. */
export const pullRequestUrl = (template: string, values: { base: string; branch: string; identifier: string }) =>
  template.replace(/\{(base|branch|identifier)\}/g, (_, key: keyof typeof values) => encodeURIComponent(values[key]))

function checkTemplate(template: string) {
  const url = pullRequestUrl(template, { base: 'main', branch: 'baton/eng-1-a', identifier: 'eng-1' })
  const isValid = /^https:\/\/[^\s/?#@]+([/?#]\S*)?$/.test(url) && URL.canParse(url) && url.length <= 1500
  if (!isValid) throw new UsageError(`--pr-url must give an https address, not ${url}.`)
}
