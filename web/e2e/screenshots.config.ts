import { defineConfig } from '@playwright/test'
import config from './playwright.config.ts'

/** Takes screenshots: `npm run screenshots`, with `--readme` those of the README, and the pictures of a guide: walk.ts. */
export default defineConfig(config, {
  testMatch: ['screenshots.ts', 'readme.ts', 'walk.ts'],
  workers: 1,
  timeout: 900_000,
  reporter: 'list',
  use: { trace: 'off', screenshot: 'off' },
})
