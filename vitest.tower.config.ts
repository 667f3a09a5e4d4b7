/**
 * `npm run test:tower`: transactions, launches, airdrops, fees, the ledger and reconciliation on embedded chains that run
 * Tower, where `npm test` runs them on Alpenglow. Tests that name a consensus keep it.
 */
import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

const SUITES = [
  ...['transaction*.test.ts', 'sol-transfers.test.ts', 'pool*.test.ts', 'preset-launches.test.ts'],
  ...['fee-claims.test.ts', 'chain/*.test.ts', 'workers/*.test.ts', 'airdrops/*.test.ts', 'fee-claims/*.test.ts'],
  ...['fee-schedules/*.test.ts', 'token-transfers/*.test.ts', 'reconciliation/*.test.ts', 'ledger/*.test.ts'],
  ...['webhooks/*.test.ts'],
]

export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({
    test: {
      include: SUITES.map((name) => `test/${name}`),
      env: { SVC_TEST_CONSENSUS: 'tower' },
    },
  }),
)
