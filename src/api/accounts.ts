/** Accounts: balance, owner and data of an address on the chain. */
import { z } from '@hono/zod-openapi'
import { address, digits } from './chain-scalars.ts'
import { writeBody } from './envelope.ts'
import { paths } from './paths.ts'
import { defineRoute } from './route.ts'
import { nullOr } from './scalars.ts'

export const account = z
  .object({
    address,
    lamports: digits,
    owner: address.meta({ description: 'Program that owns the account' }),
    executable: z.boolean(),
    data: z.base64(),
    space: z.int().min(0).meta({ description: 'Length of the data in bytes' }),
    slot: z.int().min(0).meta({ description: 'Slot of the read' }),
  })
  .openapi('Account')

export const accountBatch = z
  .object({
    accounts: z.array(nullOr(account)).meta({ description: 'In the order asked; null where there is no account' }),
  })
  .openapi('AccountBatch')

export type AccountRecord = z.output<typeof account>
export type AccountBatch = z.output<typeof accountBatch>

export const accounts = {
  get: defineRoute({
    at: paths.accounts.get,
    tag: 'Accounts',
    summary: 'Read one account',
    params: z.object({ address }),
    data: account,
  }),
  batchFetch: defineRoute({
    at: paths.accounts.batchFetch,
    tag: 'Accounts',
    summary: 'Read up to 100 accounts at once',
    body: writeBody({ addresses: z.array(address).min(1).max(100) }),
    data: accountBatch,
  }),
}
