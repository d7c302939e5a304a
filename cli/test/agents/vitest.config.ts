import { defineConfig } from 'vitest/config'

// npm run test:agents: real coding agents with scripted models.
export default defineConfig({
  root: new URL('../../..', import.meta.url).pathname,
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    pool: 'forks',
    include: ['cli/test/agents/real-agents.ts'],
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
})
