import { Counter, Gauge, Histogram } from 'prom-client'

/**
 * What this process counts, wherever it happens; `http/metrics.ts` serves it. Labels have few values that the code
 * names, never ids or anything that a caller wrote.
 */
export const counters = {
  events: new Counter({
    name: 'baton_events_recorded_total',
    help: 'Events recorded, by type',
    labelNames: ['type'],
    registers: [],
  }),
  settled: new Counter({
    name: 'baton_deliveries_settled_total',
    help: 'Deliveries that succeeded, or failed for good',
    labelNames: ['outcome'],
    registers: [],
  }),
  modelRequests: new Histogram({
    name: 'baton_model_request_duration_seconds',
    help: 'Time of requests to the language model, by outcome',
    labelNames: ['outcome'],
    buckets: [0.5, 1, 2.5, 5, 10, 20, 40, 80, 160],
    registers: [],
  }),
  databaseWait: new Histogram({
    name: 'baton_database_wait_seconds',
    help: 'Time that statements and transactions waited for a connection',
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [],
  }),
  automationRuns: new Counter({
    name: 'baton_automation_runs_total',
    help: 'Runs of automations, by how they ended',
    labelNames: ['state'],
    registers: [],
  }),
  reconnects: new Counter({
    name: 'baton_database_reconnects_total',
    help: 'Connections to the database that were lost and are replaced',
    registers: [],
  }),
  slowStatements: new Counter({
    name: 'baton_slow_statements_total',
    help: 'Statements slower than BATON_SLOW_MS',
    registers: [],
  }),
  loginFailures: new Counter({
    name: 'baton_login_failures_total',
    help: 'Wrong passwords and refused passkeys',
    registers: [],
  }),
  rateLimited: new Counter({
    name: 'baton_rate_limited_total',
    help: 'Requests refused by a rate limit, by limit',
    labelNames: ['limit'],
    registers: [],
  }),
  choresDone: new Gauge({
    name: 'baton_housekeeping_last_success_timestamp_seconds',
    help: 'When a chore of housekeeping last succeeded; before that, when the process started',
    labelNames: ['chore'],
    registers: [],
  }),
  choresFailed: new Counter({
    name: 'baton_housekeeping_failures_total',
    help: 'Failures of housekeeping, by chore',
    labelNames: ['chore'],
    registers: [],
  }),
  backupDone: new Gauge({
    name: 'baton_backup_last_success_timestamp_seconds',
    help: 'When the last scheduled backup was finished and verified; 0 if none was',
    registers: [],
  }),
  backupBytes: new Gauge({
    name: 'baton_backup_last_size_bytes',
    help: 'Size of the last scheduled backup',
    registers: [],
  }),
  backupsFailed: new Counter({
    name: 'baton_backup_failures_total',
    help: 'Scheduled backups that failed',
    registers: [],
  }),
}

/** Sets the metrics of scheduled backups. */
export const backupMetrics = {
  lastBackup(at: Date, bytes: number) {
    counters.backupDone.set(at.getTime() / 1000)
    counters.backupBytes.set(bytes)
  },
  backupFailed: () => counters.backupsFailed.inc(),
}

/** Values that are known before the first event, so that a rate can be computed from 0. */
export function startAtZero(eventTypes: readonly string[]) {
  for (const type of eventTypes) counters.events.inc({ type }, 0)
  for (const outcome of ['succeeded', 'failed']) counters.settled.inc({ outcome }, 0)
  for (const limit of ['api', 'sessions', 'sign-in']) counters.rateLimited.inc({ limit }, 0)
  for (const state of ['done', 'skipped', 'failed']) counters.automationRuns.inc({ state }, 0)
  for (const outcome of modelOutcomes) counters.modelRequests.zero({ outcome })
}

export const modelOutcomes = ['ok', 'timeout', 'network_error', 'http_error', 'bad_answer'] as const
export type ModelOutcome = (typeof modelOutcomes)[number]
