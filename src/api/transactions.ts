/** Transactions: submission (alone or as a bundle), status and simulation. */
import { z } from '@hono/zod-openapi'
import { address, digits, mintAddress, signatureText, transactionBase64 } from './chain-scalars.ts'
import { listQuery, writeBody } from './envelope.ts'
import { generatedKeys, lastValidBlockHeight, trackedResource } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'
import { anything, externalUid, line, nullOr } from './scalars.ts'

const TRANSACTION_LIFECYCLES = ['unknown', 'submitted', 'processing', 'confirmed', 'finalized', 'failed'] as const
/** A stored transaction is never `unknown`. */
const STORED_LIFECYCLES = ['submitted', 'processing', 'confirmed', 'finalized', 'failed'] as const
const CONFIRMATION_STATUSES = ['processed', 'confirmed', 'finalized'] as const
export type TransactionLifecycle = (typeof TRANSACTION_LIFECYCLES)[number]
export type ConfirmationStatus = (typeof CONFIRMATION_STATUSES)[number]

/** How much is known of a transaction that no node has shown. */
const ABSENCES = ['proven', 'unproven'] as const

const explainedError = z
  .object({
    program: z
      .string()
      .nullable()
      .meta({ description: 'Name or address of the program that failed; null if none ran' }),
    name: z.string().meta({ description: "The program's or the runtime's name of the error" }),
    message: z.string(),
    hint: z.string().nullable().meta({ description: 'What to do; null if nothing is known' }),
  })
  .openapi('TransactionError')

export const transaction = z
  .object({
    signature: signatureText,
    lifecycle: z.enum(TRANSACTION_LIFECYCLES),
    confirmation_status: z
      .enum(CONFIRMATION_STATUSES)
      .nullable()
      .meta({ description: 'Status on chain; null until seen' }),
    err: anything.meta({
      description:
        'Null on success; otherwise it was included but reverted, it expired, or the relay dropped its bundle',
    }),
    slot: z.int().min(0).meta({ description: '0 until seen' }),
    confirmations: z.int().min(0).meta({ description: 'Blocks on top of its own; 0 until seen, 32 once final' }),
    absence: z.enum(ABSENCES).nullable().meta({
      description:
        'What is known of a transaction that no node has shown. `proven`: two nodes, its nonce, the history of its payer or the embedded chain show that it is in no block. `unproven`: nothing shows that, so it may have landed: do not sign it again. Null once seen, and during its first minutes',
    }),
    error: explainedError
      .nullable()
      .optional()
      .meta({ description: '`err` in words, null without one; not in events' }),
  })
  .openapi('Transaction')

/** A transaction that was submitted or signed here, with what the submission said about it. */
const storedTransaction = transaction
  .extend({
    tracked_resource: nullOr(trackedResource).meta({ description: 'What it acts on, as its submission said' }),
    bundle_id: z.string().nullable().meta({ description: 'Bundle in which it was sent; null if it was sent alone' }),
    external_uid: z.string().nullable(),
    created_at: z.string().meta({ description: 'When it was submitted' }),
    bytes_removed_at: z.string().nullable().meta({
      description:
        'When its signed bytes were removed (`retention.transaction-bytes-days`); null while they are stored',
    }),
  })
  .openapi('StoredTransaction')

const lookedUpTransaction = storedTransaction
  .partial({
    tracked_resource: true,
    bundle_id: true,
    external_uid: true,
    created_at: true,
    bytes_removed_at: true,
  })
  .openapi('LookedUpTransaction', {
    description: 'What only its submission knows is absent from a transaction that was not submitted here',
  })

const transactionContent = z
  .object({
    signature: signatureText,
    source: z.enum(['stored', 'chain']).meta({ description: 'Where its bytes were read' }),
    transaction: transactionBase64.nullable().meta({
      description:
        'The signed bytes; null while its bundle can still land, because transactions of a bundle are only sent together',
    }),
    version: z.enum(['legacy', '0', '1']),
    fee_payer: address,
    signers: z.array(address).meta({ description: 'Who has signed it, the fee payer first' }),
    recent_blockhash: z.string().meta({ description: 'Its blockhash, or the value of its durable nonce' }),
    nonce_account: address.nullable().meta({ description: 'Account of its durable nonce; null without one' }),
    size: z.int().min(0).meta({ description: 'Bytes' }),
    fee: digits.meta({ description: 'Lamports that the fee payer pays, the priority fee included' }),
    plan: z.array(z.string()).meta({
      description:
        'What it does, in the lines that people read before they sign or approve: what changes control, and each instruction whole, with every account, every argument and every byte of data',
    }),
  })
  .openapi('TransactionContent')

const submittedTransaction = z.object({ signature: signatureText })
const submittedBundle = z.object({
  bundle_id: z.string(),
  signatures: z.array(z.string()).meta({ description: 'Contains only the bundle id' }),
  transaction_signatures: z
    .array(signatureText)
    .meta({ description: 'Signatures of the bundled transactions, in order' }),
})
export const submitted = z.union([submittedTransaction, submittedBundle]).openapi('Submitted')

export const balanceChange = z
  .object({
    address: address.meta({ description: 'Account whose balance changes: a wallet, a token account, any other' }),
    mint: mintAddress
      .nullable()
      .meta({ description: 'Mint of the tokens; null for lamports, which have their own row' }),
    owner: address.nullable().meta({
      description:
        'Wallet that owns the token account after the run, or before it if the run closes the account; null for lamports',
    }),
    decimals: z.int().min(0).max(255).nullable().meta({
      description: 'Decimals of the mint; null for lamports, and if the mint cannot be read',
    }),
    before: digits.meta({ description: 'Lamports, or raw units of the mint; 0 if the account does not exist yet' }),
    after: digits.meta({ description: 'The same after the run; 0 if the run closes the account' }),
    change: z
      .string()
      .regex(/^-?[0-9]+$/, 'must be digits, with a minus for a loss')
      .meta({ description: '`after` minus `before`, with a minus for a loss', example: '-1005000' }),
    withheld: digits.optional().meta({
      description:
        'Additional raw units of transfer fees that the token account withholds, not included in `after`; only present if there are any',
    }),
    created: z
      .boolean()
      .meta({ description: 'The account (for tokens: as one of this mint) does not exist before the run' }),
    closed: z
      .boolean()
      .meta({ description: 'The account (for tokens: as one of this mint) does not exist after the run' }),
    space: z
      .int()
      .min(0)
      .meta({ description: 'Bytes of data after the run, for which rent is paid; 0 in a plain wallet' }),
  })
  .openapi('BalanceChange')

const controlChange = z
  .object({
    address: address.meta({ description: 'Account that somebody else controls after the run' }),
    what: z.string().meta({ description: 'Which control', example: 'close authority' }),
    before: z.string().nullable().meta({ description: 'Who had it: an address, or a state; null for nobody' }),
    after: z.string().nullable().meta({ description: 'Who has it after the run; null for nobody' }),
  })
  .openapi('ControlChange')

/** Owners and authorities beside the balances of a run. */
export const controlChanges = z.array(controlChange).meta({
  description:
    'Owners, authorities, delegates, rights to close and programs of writable accounts that a run would change; empty if it changes none or fails',
})

export const simulation = z
  .object({
    err: anything.meta({ description: 'Null on success' }),
    logs: z.array(z.string()),
    units_consumed: z.int().min(0).nullable(),
    return_data: z.object({ program_id: address, data: z.base64() }).nullable(),
    slot: z.int().min(0),
    fee: z
      .string()
      .regex(/^[0-9]+$/)
      .nullable()
      .meta({
        description:
          'Lamports that the payer is charged, including the priority fee; null if the node does not report it',
        example: '5000',
      }),
    rent: digits.nullable().meta({
      description:
        "Lamports that exempt the new accounts from rent, by the cluster's rate; 0 if the run fails, null if the node does not report the rate",
    }),
    balance_changes: z.array(balanceChange).meta({
      description:
        'Lamports and tokens of every writable account that a run would change, including the fee; empty if it fails',
    }),
    control_changes: controlChanges,
  })
  .openapi('Simulation')

const executedChanges = z
  .object({
    signature: signatureText,
    slot: z.int().min(0),
    fee: digits.meta({ description: 'Lamports that the first account paid, the priority fee included' }),
    balance_changes: z.array(
      balanceChange
        .pick({ address: true, mint: true, owner: true, decimals: true, before: true, after: true, change: true })
        .openapi('ExecutedChange'),
    ),
  })
  .openapi('ExecutedChanges')

const transactionForecast = z
  .object({
    failed: z
      .object({
        index: z.int().min(0).meta({ description: 'Its place in the request, from 0' }),
        err: anything,
        logs: z.array(z.string()),
      })
      .nullable()
      .meta({
        description: 'The first transaction that fails for another reason than a lack of money; null if none does',
      }),
    exact: z.boolean().meta({
      description:
        'True if all were run; false if a program is not in the program cache (`svc localnet pull`): then `amount` is the least that is known',
    }),
    payments: z
      .array(
        z.object({
          wallet: address,
          mint: mintAddress.nullable().meta({ description: 'Null for lamports' }),
          decimals: z.int().min(0).max(255).nullable().meta({
            description: 'Decimals of the mint; null for lamports, and if the mint cannot be read',
          }),
          amount: digits.meta({ description: 'What all transactions together take from the wallet, fees included' }),
          needed: digits.meta({
            description:
              'What the wallet must have before the first: more than `amount` if a part returns, or rent must stay in it',
          }),
          held: digits.meta({
            description: 'What the wallet has now; with less than `needed` they would not all succeed',
          }),
        }),
      )
      .meta({ description: 'What each signing wallet pays; empty if one fails' }),
  })
  .openapi('TransactionForecast')

export const refreshed = z
  .object({
    mode: z.literal('unsigned'),
    transactions: z.array(transactionBase64).meta({
      description: 'In the order of the request; only the 32 bytes of the blockhash differ in each message',
    }),
    requiredSigners: z.array(address).meta({ description: 'Wallets that must still sign' }),
    last_valid_block_height: lastValidBlockHeight,
    generated_keys: generatedKeys
      .optional()
      .meta({ description: 'The value that was sent; it works for the next refresh too' }),
  })
  .openapi('Refreshed')

const executedTransaction = z
  .object({
    signature: signatureText,
    slot: z.int().min(0),
    failed: z.boolean().meta({ description: 'True if it reverted, so that only its fee was paid' }),
    transaction: transactionBase64.meta({ description: 'The signed bytes, base64' }),
  })
  .openapi('ExecutedTransaction')

export type ExecutedTransaction = z.output<typeof executedTransaction>
export type Transaction = z.output<typeof transaction>
export type StoredTransaction = z.output<typeof storedTransaction>
export type LookedUpTransaction = z.output<typeof lookedUpTransaction>
export type TransactionContent = z.output<typeof transactionContent>
export type Submitted = z.output<typeof submitted>
export type SubmittedTransaction = z.output<typeof submittedTransaction>
export type SubmittedBundle = z.output<typeof submittedBundle>
export type Simulation = z.output<typeof simulation>
export type TransactionForecast = z.output<typeof transactionForecast>

const TRANSACTIONS_TAG: Tag = {
  name: 'Transactions',
  description: 'Signed transactions are simulated, submitted, and followed until they are final or have expired.',
}

export const transactions = {
  submit: defineRoute({
    at: ['post', '/v2/transactions'],
    tag: TRANSACTIONS_TAG,
    summary: 'Submit a signed transaction, or up to five as an atomic bundle',
    description:
      "The signed bytes are stored before they are sent, and sent again until the transaction has landed or its blockhash has expired. A transaction that would fail is refused with the program's reason and log, unless `skip_preflight` is true.",
    body: writeBody({
      transaction: transactionBase64
        .optional()
        .meta({ description: 'Signed, base64; required unless `bundle` is true' }),
      signed_transactions: z
        .array(transactionBase64)
        .min(1)
        .max(5)
        .optional()
        .meta({ description: 'Signed, base64; required when `bundle` is true' }),
      bundle: z.boolean().default(false).meta({ description: 'All land in one slot, or none' }),
      skip_preflight: z.boolean().default(false),
      max_retries: z
        .int()
        .min(0)
        .max(10)
        .default(2)
        .meta({ description: 'Passed to the RPC node; 0 also stops rebroadcasting' }),
      tracked_resource: trackedResource.optional().meta({ description: 'The value that a build returned, unchanged' }),
    }).superRefine((body, context) => {
      const [required, other] = body.bundle
        ? (['signed_transactions', 'transaction'] as const)
        : (['transaction', 'signed_transactions'] as const)
      if (body[required] === undefined) {
        const message = `required when bundle is ${body.bundle}`
        context.addIssue({ code: 'custom', path: [required], message })
      } else if (body[other] !== undefined) {
        const message = `only valid when bundle is ${!body.bundle}`
        context.addIssue({ code: 'custom', path: [other], message })
      }
    }),
    example: { transaction: 'AQAAAA==' },
    data: submitted,
  }),
  refresh: defineRoute({
    at: ['post', '/v2/transactions/refresh'],
    tag: TRANSACTIONS_TAG,
    summary: 'Put a new blockhash into transactions that wait for their signatures',
    description:
      'For transactions that are signed elsewhere, if that took longer than a blockhash is valid. Only keys that the build generated may have signed; they sign again if `generated_keys` is sent. The refresh is refused if a transaction that differs only in its blockhash was submitted here and is pending or has landed. While a refreshed transaction is pending, submissions of its other versions are refused too.',
    body: writeBody({
      transactions: z
        .array(transactionBase64)
        .min(1)
        .max(5)
        .meta({ description: 'Base64; transactions that belong together get the same blockhash' }),
      generated_keys: generatedKeys.optional().meta({ description: 'The value that the build returned' }),
    }),
    data: refreshed,
    atomic: true,
  }),
  list: defineRoute({
    at: ['get', '/v2/transactions'],
    tag: TRANSACTIONS_TAG,
    summary: 'List submitted transactions, newest first',
    description:
      'Transactions that were submitted or signed here, as they are stored: the watcher updates them, and this route does not ask the chain.',
    query: listQuery({
      lifecycle: z.enum(STORED_LIFECYCLES).optional(),
      external_uid: externalUid.optional().meta({ description: '`externalUid` of the submission' }),
      resource_id: line(256).optional().meta({ description: '`resource_id` of the tracked resource' }),
      bundle_id: line(64).optional(),
    }),
    data: storedTransaction,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/transactions/{signature}'],
    tag: TRANSACTIONS_TAG,
    summary: 'Read the status of a transaction',
    description: 'Poll until `lifecycle` is `confirmed`, or `finalized` for stronger guarantees.',
    params: z.object({ signature: signatureText }),
    data: lookedUpTransaction,
  }),
  content: defineRoute({
    at: ['get', '/v2/transactions/{signature}/content'],
    tag: TRANSACTIONS_TAG,
    summary: 'Read the bytes of a transaction, and what it does',
    description:
      'From the stored bytes, otherwise from the chain, for any confirmed transaction. Addresses of lookup tables are those with which it was executed; before that they are shown as `TABLE[place]`.',
    params: z.object({ signature: signatureText }),
    data: transactionContent,
  }),
  changes: defineRoute({
    at: ['get', '/v2/transactions/{signature}/balance-changes'],
    tag: TRANSACTIONS_TAG,
    summary: 'Read what a confirmed transaction changed',
    description:
      'Lamports and tokens of each account whose balance changed, as the node recorded them before and after it, for any transaction of the chain.',
    params: z.object({ signature: signatureText }),
    data: executedChanges,
  }),
  batchFetch: defineRoute({
    at: ['post', '/v2/transactions/batch-fetch'],
    tag: TRANSACTIONS_TAG,
    summary: 'Read up to 100 executed transactions at once',
    description:
      'Answers in the order of the request, with null for a transaction that no RPC endpoint has as `confirmed`, or whose answer cannot be read. Endpoints without a full history lack old ones. It changes nothing and needs no scope.',
    body: writeBody({ signatures: z.array(signatureText).min(1).max(100) }),
    data: z.object({ transactions: z.array(nullOr(executedTransaction)) }),
  }),
  simulate: defineRoute({
    at: ['post', '/v2/transaction-simulations'],
    tag: TRANSACTIONS_TAG,
    summary: 'Run a transaction without submitting it',
    description:
      'Nothing is changed. Signatures are not checked, and the blockhash is replaced by a recent one, so an unsigned build of any age can run. A failed run is a normal answer with `err`.',
    body: writeBody({ transaction: transactionBase64 }),
    data: simulation,
  }),
  forecast: defineRoute({
    at: ['post', '/v2/transaction-forecasts'],
    tag: TRANSACTIONS_TAG,
    summary: 'Find what transactions cost before the first is sent',
    description:
      'For transactions that depend on each other, such as those of a launch. They are run one after another in memory, with the programs of the program cache on the accounts of the cluster. Nothing is changed, and signatures are not needed. `mode: signed` of POST /v2/pools does the same before the platform wallet signs.',
    body: writeBody({
      transactions: z
        .array(transactionBase64)
        .min(1)
        .max(5)
        .meta({ description: 'Base64, in the order in which they will be sent' }),
    }),
    data: transactionForecast,
  }),
}
