/** Has the API read the holders of a token or a collection, or takes a stored snapshot, and fetches their rows. */
import type { HolderSnapshot } from '../../src/api/holder-snapshots.ts'
import { areSorted, type HolderRows, holderRows } from '../../src/merkle/allocation/holder-rows.ts'
import { sha256Hex } from '../../src/merkle/allocation/recipient-list.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { Session } from '../cli/session.ts'
import { requestOnce } from '../signing/requests.ts'
import { failure, nullIfNotFound, Problem, usage } from '../ui/problem.ts'

export interface SnapshotChoices {
  owners: 'all' | 'off_curve'
  allow_confidential: boolean
}

const SNAPSHOT_ID = /^hsn_[A-Za-z0-9_-]+$/
/** The API reads for minutes at most; a request that got no answer is repeated under its key meanwhile. */
const READING_PAUSES_MS = Array.from({ length: 120 }, () => 5_000)

/** `of` is a mint, a collection of Metaplex Core, or the id of a stored snapshot. */
export async function takeSnapshot(session: Session, of: string, choices: SnapshotChoices): Promise<HolderSnapshot> {
  if (SNAPSHOT_ID.test(of)) return (await session.client.holderSnapshots.get({ id: of })).data
  const address = await heldAddress(session, of)
  return requestOnce(session, {
    idempotencyKey: crypto.randomUUID(),
    pauses: READING_PAUSES_MS,
    waiting: 'the holders are read',
    interrupted: 'The API may still be reading: see GET /v2/holder-snapshots',
    call: async (options) => (await session.client.holderSnapshots.create({ ...address, ...choices }, options)).data,
    answeredErrorIsOpen: false,
    unknownResult: (error) =>
      failure(`${error.message}; whether the holders were read is not known`, {
        next: 'run it again, or take the id of GET /v2/holder-snapshots in place of the address',
        cause: error,
      }),
  })
}

/** The owner of an account shows what the address is. */
async function heldAddress({ client }: Session, of: string): Promise<{ mint: string } | { collection: string }> {
  const account = await nullIfNotFound(client.accounts.get({ address: of }))
  if (account === null)
    throw new Problem('not_found', `there is no account at ${of}`, { next: 'check address and cluster' })
  const { owner } = account.data
  if (owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM) return { mint: of }
  if (owner === PROGRAMS.core.id) return { collection: of }
  throw usage(`${of} is neither a mint nor a collection of Metaplex Core: its account is of the program ${owner}`, {
    param: '<of>',
  })
}

/** Fetches all rows, and checks their hash, order and number. */
export async function snapshotRows({ client, ui }: Session, snapshot: HolderSnapshot): Promise<HolderRows> {
  const bar = ui.progress('Reading the holders')
  const pieces: Buffer[] = []
  for (let n = 0; n < snapshot.pieces; n++) {
    const { data } = await client.holderSnapshots.piece({ id: snapshot.id, n: String(n) })
    pieces.push(Buffer.from(data.bytes, 'base64'))
    bar(n + 1, snapshot.pieces)
  }
  ui.clear()
  const bytes = Buffer.concat(pieces)
  const isWhole = sha256Hex(bytes) === snapshot.holders_sha256
  const rows = isWhole ? holderRows(bytes) : undefined
  if (rows === undefined || rows.count !== snapshot.holders || !areSorted(rows)) {
    throw failure(`the holders of ${snapshot.id} do not match its record`, {
      next: 'take a new snapshot, and check the database: `svc doctor`',
    })
  }
  return rows
}
