import { defineConfig } from '@playwright/test'
import config from './playwright.config.ts'

/** Takes screenshots: `npm run screenshots`. */
export default defineConfig(config, {
  testMatch: 'screenshots.ts',
  workers: 1,
  timeout: 900_000,
  reporter: 'list',
  use: { trace: 'off', screenshot: 'off' },
})
