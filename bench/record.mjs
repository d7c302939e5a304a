// Writes the results to docs/figures and into the tables of README.md, bench/README.md and growing.md.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { chartOf } from './chart.mjs'

const root = new URL('../', import.meta.url)
const file = new URL('docs/figures/bench.json', root)

/** The rows of the README. All of them are in bench/README.md. */
const main = [
  /^deliveries drained/,
  /^commit to first byte/,
  /^POST activity, \d+ connections/,
  /^a change reaches/,
  /^issues imported/,
  /^cold start/,
  /^web app: (first list usable|key press to paint, p95)/,
]

/** Keeps earlier results of rows that were not measured this time, if they are of the same machine. */
export function record({ measured, ...about }) {
  const last = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { measured: [] }
  const before = last.machine?.processor === about.machine.processor ? last.measured : []
  const isNew = (old) => measured.some((row) => callOf(row) === callOf(old) && row.database === old.database)
  const all = [...before.filter((row) => !isNew(row)), ...measured]
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, `${JSON.stringify({ ...about, measured: all }, null, 2)}\n`)
  writeFileSync(new URL('bench.svg', file), chartOf(all.filter(({ ratio }) => ratio !== undefined)))
  const isGrowth = ({ name }) => name.endsWith(' rows')
  const isMain = ({ name }) => main.some((pattern) => pattern.test(name))
  replaceTable('README.md', speedTable(all.filter(isMain), about))
  replaceTable(
    'bench/README.md',
    speedTable(
      all.filter((row) => !isGrowth(row)),
      about,
    ),
  )
  replaceTable('docs/guides/growing.md', growthTable(all.filter(isGrowth), about))
}

/** A row of growth is named by its call and its number of rows, which can change. */
const callOf = ({ name }) => name.replace(/, at [\d,]+ rows$/, '')

/** Replaces the table between the two marker comments. */
function replaceTable(name, table) {
  const page = new URL(name, root)
  const [begin, end] = ['<!-- measured: npm run bench -- --record -->', '<!-- /measured -->']
  const text = readFileSync(page, 'utf8')
  const [before, after] = [text.indexOf(begin), text.indexOf(end)]
  if (before < 0 || after < before) throw new Error(`${name} has no markers for the measured table`)
  writeFileSync(page, `${text.slice(0, before)}${begin}\n\n${table}\n\n${text.slice(after)}`)
}

/** Each row's name with its results on both databases. */
const byName = (rows) =>
  [...new Set(rows.map(({ name }) => name))].map((name) => [
    name,
    ...['postgres', 'embedded'].map((kind) => rows.find((row) => row.name === name && row.database === kind)),
  ])

function speedTable(rows, about) {
  return [
    `Node ${about.node.slice(1)}, ${about.machine.cores} cores (${about.machine.processor}), ${about.machine.memoryGb} GB; PostgreSQL on the same machine, with fsync:`,
    '',
    '| measurement | PostgreSQL | compared with, in the same run | ratio: best, worst round | required | embedded database | ratio: best, worst round | required |',
    '|---|---|---|---|---|---|---|---|',
    ...byName(rows).map(([name, row, embedded]) => {
      const { unit, floor, floorIs } = row ?? embedded
      const [onPostgres, ...ratios] = speedCells(row)
      const cells = [name, onPostgres, `${amount(floor)} ${unit}: ${floorIs}`, ...ratios, ...speedCells(embedded)]
      return `| ${cells.join(' | ')} |`
    }),
  ].join('\n')
}

/** Result, ratios of the best and the worst round, and required ratio. */
function speedCells(row) {
  if (!row) return ['', '', '']
  const { ours, unit, ratio, worst = ratio, better, target, met } = row
  // A row without a ratio has its limit in its unit.
  const ratios = worst === ratio ? (ratio ?? '') : `${ratio}, ${worst}`
  const inUnit = ratio === undefined ? ` ${unit}` : ''
  const required = met === undefined ? '' : `${better === 'more' ? '≥' : '≤'} ${amount(target)}${inUnit}`
  return [`${amount(ours)} ${unit}`, ratios, required]
}

function growthTable(rows, about) {
  const titles = { postgres: 'PostgreSQL', embedded: 'the embedded database' }
  const kinds = Object.keys(titles).filter((kind) => rows.some(({ database }) => database === kind))
  const cells = (row) =>
    row ? `${amount(row.floor)} ms | ${amount(row.ours)} ms${sizeOf(row)} | ${row.ratio}` : ' | | '
  return [
    `Medians, one call after another; Node ${about.node.slice(1)}, ${about.machine.cores} cores, ${about.machine.memoryGb} GB:`,
    '',
    `| call |${kinds.map((kind) => ` ${titles[kind]}, at 10,000 rows | at 1,000,000 rows or as noted | ratio |`).join('')}`,
    `|---|${kinds.map(() => '---|---|---|').join('')}`,
    ...[...new Set(rows.map(callOf))].map((call) => {
      const measured = kinds.map((kind) => rows.find((row) => callOf(row) === call && row.database === kind))
      return `| ${call} | ${measured.map(cells).join(' | ')} |`
    }),
  ].join('\n')
}

/** The number of rows, if it is not that of the table's heading. */
function sizeOf({ name }) {
  const size = /at ([\d,]+) rows$/.exec(name)?.[1]
  return size === '1,000,000' ? '' : ` at ${size}`
}

const amount = (value) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toFixed(value >= 10 ? 1 : 2)))
