/** What a passport calls proven, on mints of strangers whose powers are easy to overlook. */
import * as spl from '@solana/spl-token'
import { Keypair, type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import type { TokenReport } from '../src/api/token-report.ts'
import { localFetch } from '../src/localnet/fetch.ts'
import { createRpc } from '../src/localnet/rpc/index.ts'
import { proveFacts } from '../src/passport-page/chain-facts.ts'
import { PASSPORT_FORMAT, readPassport } from '../src/passport-page/passport-file.ts'
import { addressOf, createMint, type Extension, run } from './support/gold.ts'
import { sharedService } from './support/service.ts'
import { walletOn } from './support/wallets.ts'

const shared = sharedService()
const program = spl.TOKEN_2022_PROGRAM_ID
const { ExtensionType } = spl

/** The facts by their names, of a passport that its writer made to look as harmless as possible. */
async function factsOf(extensions: Extension[], change?: (mint: PublicKey, wallet: Keypair) => TransactionInstruction) {
  const { services, request } = await shared()
  const { chain, wallet } = await walletOn(services, 1_000_000_000n)
  const made = createMint(chain, wallet, { program, extensions })
  const mint = made.mint.toBase58()
  if (change !== undefined) expect(run(chain, [change(made.mint, wallet)], [wallet]).err).toBeNull()
  chain.advance(40)
  const { json } = await request('GET', `/v2/tokens/${mint}/report`)
  const passport = readPassport(JSON.stringify({ format: PASSPORT_FORMAT, cluster: {}, rpc: [], report: json.data }))
  const fetchLocal = localFetch(createRpc(chain, { onError: () => undefined })) as typeof fetch
  const call = async (method: string, params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetchLocal('http://embedded.test', { method: 'POST', headers, body })
    return ((await answer.json()) as { result: unknown }).result
  }
  const { facts, verdicts } = await proveFacts(call, passport)
  return {
    me: addressOf(wallet),
    of: (name: string) => facts.find((each) => each.name === name),
    verdicts,
    told: (json.data as TokenReport).risks,
    /** The verdicts on a file whose writer says that everything is fine. */
    whitewashed: async () => {
      const risks = (json.data as TokenReport).risks.map((each) => ({ ...each, level: 'ok', finding: 'Fine.' }))
      const report = { ...json.data, risks }
      const file = readPassport(JSON.stringify({ format: PASSPORT_FORMAT, cluster: {}, rpc: [], report }))
      return (await proveFacts(call, file)).verdicts
    },
  }
}

const pausing: Extension = {
  type: ExtensionType.PausableConfig,
  initialize: (mint, id, by) => spl.createInitializePausableConfigInstruction(mint, by, id),
}

describe('the verdicts of a passport', () => {
  it('are those of the report, proven where the mint alone decides', async () => {
    const { verdicts, told } = await factsOf([pausing])
    const shown = new Map(verdicts.map(({ risk, level, finding }) => [risk, { risk, level, finding }]))
    for (const { risk, level, finding } of told) expect(shown.get(risk)).toEqual({ risk, level, finding })
    expect(shown.size).toBe(told.length)
    const byWord = verdicts.filter(({ isProven }) => !isProven).map(({ risk }) => risk)
    expect(byWord.sort()).toEqual(['large_holder', 'unlocked_liquidity'])
    expect(verdicts[0]?.level).toBe('danger')
  })

  it('stay a danger if the file says that everything is fine', async () => {
    const { me, whitewashed } = await factsOf([pausing])
    const verdicts = await whitewashed()
    const dangers = verdicts.filter(({ level }) => level === 'danger')
    expect(dangers.map(({ risk }) => risk).sort()).toEqual(['freeze_authority', 'mint_authority', 'pausable'])
    expect(dangers.every(({ isProven, note }) => isProven && note === 'When this page was written: ok. Fine.')).toBe(
      true,
    )
    expect(dangers.find(({ risk }) => risk === 'pausable')?.finding).toBe(`${me} can pause all transfers.`)
  })
})

describe('a passport of a mint of Token-2022', () => {
  it('does not prove that metadata in an account that is not read is immutable', async () => {
    const place = Keypair.generate().publicKey
    const { of } = await factsOf([
      {
        type: ExtensionType.MetadataPointer,
        initialize: (mint, id) => spl.createInitializeMetadataPointerInstruction(mint, null, place, id),
      },
    ])
    expect(of('Metadata')).toMatchObject({ state: 'unproven', value: `It is in the account ${place.toBase58()}` })
  })

  it('names who can point the mint at other metadata', async () => {
    const { me, of } = await factsOf([
      {
        type: ExtensionType.MetadataPointer,
        initialize: (mint, id, by) => spl.createInitializeMetadataPointerInstruction(mint, by, mint, id),
      },
    ])
    expect(of('Metadata')).toMatchObject({ state: 'proven', value: `${me} can replace it` })
  })

  it('names who can set a hook and raise the fee, and the fee that comes', async () => {
    const { me, of } = await factsOf(
      [
        {
          type: ExtensionType.TransferHook,
          initialize: (mint, id, by) =>
            spl.createInitializeTransferHookInstruction(mint, by, SystemProgram.programId, id),
        },
        {
          type: ExtensionType.TransferFeeConfig,
          initialize: (mint, id, by) => spl.createInitializeTransferFeeConfigInstruction(mint, by, by, 0, 9n, id),
        },
      ],
      (mint, wallet) => spl.createSetTransferFeeInstruction(mint, wallet.publicKey, [], 9_900, 9n, program),
    )
    expect(of('Transfer hook')?.value).toBe(`None; ${me} can change it`)
    expect(of('Transfer fee')?.value).toMatch(new RegExp(`^0 % of each transfer, 99 % from epoch \\d+ on; ${me} can`))
  })
})
