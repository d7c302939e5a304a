import { defineConfig } from '@playwright/test'
import { findBrowser } from '../../scripts/browser.mjs'
import { wide } from './viewports.ts'

const results = process.env.BATON_TEST_RESULTS
const executablePath = findBrowser()
const withoutBrowser = executablePath === null || Boolean(process.env.BATON_TESTS_LISTED)

const browserArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-sync',
  '--metrics-recording-only',
]

export default defineConfig({
  testDir: '.',
  globalSetup: './template.ts',
  testMatch: '**/*.spec.ts',
  outputDir: './results',
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  workers: 2,
  // A test that passes only sometimes has a bug, or the app has: it is listed as flaky. In CI, where the machine may be
  // slow for a moment, it does not block a change.
  retries: process.env.CI ? 1 : 0,
  timeout: 45_000,
  expect: { timeout: 7000 },
  reporter: results ? [['list'], ['./reporter.ts', { file: results, withoutBrowser }]] : 'list',
  projects: [{ name: 'chromium' }],
  use: {
    browserName: 'chromium',
    viewport: wide,
    locale: 'en-GB',
    timezoneId: 'UTC',
    contextOptions: { reducedMotion: 'reduce' },
    // Recording takes a third longer, so a run of all tests does without.
    trace: process.env.BATON_TEST_ALL ? 'off' : 'retain-on-failure',
    screenshot: 'only-on-failure',
    launchOptions: { args: browserArgs, ...(executablePath ? { executablePath } : {}) },
  },
})
