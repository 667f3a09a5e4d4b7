/** A raise paid in SOL on an embedded chain, its page as files, and the lines of its allowlist, apart from the code that ships. */
import { createHash } from 'node:crypto'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { merkleRootAddress, raisePlace } from '../../src/chain/programs/presale/index.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import {
  creationInstruction,
  fixedPriceInstruction,
  type RaiseCreation,
  rootInstruction,
} from '../../src/solana/raise-acts.ts'
import { createMint, give, type MintOptions, run } from './gold.ts'
import { sdk } from './raises.ts'
import { addressOf, SOL } from './wallets.ts'

export interface SolRaise {
  id: string
  mint: string
  creator: Keypair
}

/** Opens a raise of 1,000 tokens for at most 10 SOL, at least 2, within an hour; `wish` says what is different. */
export function openSolRaise(
  chain: LocalChain,
  {
    withdrawable = true,
    key = Keypair.generate(),
    options = {},
    ...wish
  }: Partial<RaiseCreation> & { withdrawable?: boolean; key?: Keypair; options?: MintOptions } = {},
): SolRaise {
  const base = Keypair.generate()
  chain.airdrop(addressOf(key), 100n * SOL)
  const token = createMint(chain, key, { isFreezable: false, ...options })
  const supply = 1_000n * 10n ** 9n
  const from = give(chain, key, token, key.publicKey, 2n * supply).toBase58()
  const off = spl.createSetAuthorityInstruction(
    token.mint,
    key.publicKey,
    spl.AuthorityType.MintTokens,
    null,
    [],
    token.program,
  )
  const [mint, payer] = [token.mint.toBase58(), addressOf(key)]
  const place = raisePlace({
    ...{ base: addressOf(base), mint, quoteMint: WRAPPED_SOL },
    ...{ tokenProgram: token.program.equals(spl.TOKEN_PROGRAM_ID) ? 'spl' : 'token2022', quoteTokenProgram: 'spl' },
  })
  const endsAt = BigInt(chain.unixTimestamp()) + 3_600n
  const mode = wish.mode ?? 'fixed_price'
  const creation: RaiseCreation = {
    ...{ mode, allowlist: 'none', maximum: 10n * SOL, minimum: 2n * SOL, startsAt: 0n, endsAt, unsold: 'return' },
    ...{ earlyEnd: mode !== 'pro_rata', releaseBps: 10_000, releaseAt: endsAt, lockSeconds: 0n, vestingSeconds: 0n },
    ...{ creator: payer, payer, from },
    ...{ price: mode === 'fixed_price' ? (1n << 64n) / 100n + 1n : null },
    rounds: [{ supply, buyerMin: SOL / 10n, buyerMax: 5n * SOL, feeBps: 100 }],
    ...wish,
  }
  const { price } = creation
  const args = price === null ? [] : [fixedPriceInstruction(place, { payer, price, withdrawable })]
  const { err, logs } = run(chain, [off, ...[...args, creationInstruction(place, creation)].map(sdk)], [key, base])
  if (err !== null) throw new Error(logs.join('\n'))
  return { id: place.address, mint, creator: key }
}

export interface Line {
  wallet: string
  /** Index of the registry. */
  round: number
  cap: bigint
}

const sha = (...parts: Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const leafOf = ({ wallet, round, cap }: Line): Buffer => {
  const amount = Buffer.alloc(8)
  amount.writeBigUInt64LE(cap)
  return sha(Buffer.of(0), sha(new PublicKey(wallet).toBuffer(), Buffer.of(round), amount))
}

/** The root of the lines, and for each the file that a client reads, by its path. */
export function allowlistFiles(config: string, lines: readonly Line[]): { root: Buffer; files: Map<string, Buffer> } {
  const levels = [lines.map(leafOf)]
  while (levels.at(-1)!.length > 1) {
    const below = levels.at(-1)!
    const above: Buffer[] = []
    for (let i = 0; i < below.length; i += 2) {
      const pair = [below[i]!, below[i + 1] ?? below[i]!].sort(Buffer.compare)
      above.push(sha(Buffer.of(1), ...pair))
    }
    levels.push(above)
  }
  const files = new Map<string, Buffer>()
  lines.forEach(({ wallet, round, cap }, leaf) => {
    const proof = levels.slice(0, -1).map((level, depth) => [...(level[(leaf >> depth) ^ 1] ?? level[leaf >> depth]!)])
    const line = { merkle_root_config: config, deposit_cap: Number(cap), proof }
    files.set(`${round}/${wallet}`, Buffer.from(JSON.stringify(line)))
  })
  return { root: levels.at(-1)![0]!, files }
}

/** Writes the root of the lines on chain, as the creator does. */
export function openToList(chain: LocalChain, { id, creator }: SolRaise, lines: readonly Line[]): Map<string, Buffer> {
  const config = merkleRootAddress(id, 0n)
  const { root, files } = allowlistFiles(config, lines)
  const act = rootInstruction(id, { creator: addressOf(creator), config, root, version: 0n })
  const { err, logs } = run(chain, [sdk(act)], [creator])
  if (err !== null) throw new Error(logs.join('\n'))
  return files
}

/** The files beside those of the page. */
export const raiseFiles = (
  genesisHash: string,
  raise: string,
  rpc: string,
  vault: object | null = null,
): Map<string, Buffer> =>
  new Map([
    [
      'raise.json',
      Buffer.from(
        JSON.stringify({
          format: 'svc-raise-page/1',
          cluster: { genesis_hash: genesisHash, name: 'localnet', chain: 'solana:localnet' },
          raise,
          creator_vault: vault,
        }),
      ),
    ],
    ['site.json', Buffer.from(JSON.stringify({ name: 'Acme', rpc: [rpc] }))],
  ])
