/** What is signed about positions of DAMM v2, byte for byte, as the real program once took it. */
import { describe, expect, it } from 'vitest'
import {
  buildLiquidityAddition,
  buildLiquidityRemoval,
  buildPermanentLock,
  buildPositionClosing,
  buildPositionOpening,
  buildPositionVesting,
  positionAddresses,
} from '../../src/chain/programs/damm-v2/index.ts'
import { goldenPool, launchKeys, openDammV2 } from '../support/damm-v2.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey } from '../support/golden.ts'
import { SOL } from '../support/local-chain.ts'
import { addressOf } from '../support/wallets.ts'

const KEYS = launchKeys(60)
const NFT = goldenKey(63)
const LIQUIDITY = 10n ** 20n
const POOL = { ...goldenPool(KEYS), tokenADecimals: 6, tokenBDecimals: 9 }

/** The chain of the pool with an unlocked position, in which its owner has bought; to close one, a second that is empty. */
async function arrange(name: string) {
  const chain = await openDammV2()
  chain.chain.airdrop(addressOf(KEYS.creator), 1_000n * SOL)
  const pool = await chain.launch(KEYS, { lockLiquidity: false })
  chain.land(await chain.swap(pool, KEYS.creator, { side: 'buy', amount: 5n * SOL }), KEYS.creator)
  expect(pool).toMatchObject(POOL)
  if (name === 'close') {
    const { open } = await transactions(0)
    chain.land(open, KEYS.creator, NFT)
    const nothing = { amountA: 0n, amountB: 0n }
    const position = await positionAddresses(addressOf(NFT))
    const removal = { payer: addressOf(KEYS.creator), recentBlockhash: GOLDEN_BLOCKHASH, pool: POOL, position }
    chain.land(
      await buildLiquidityRemoval({ ...removal, refreshes: false, liquidity: null, minimum: nothing }),
      KEYS.creator,
    )
  }
  return chain.test
}

async function transactions(version: 0 | 1) {
  const position = await positionAddresses(addressOf(KEYS.positionNft))
  const act = {
    ...{ payer: addressOf(KEYS.creator), recentBlockhash: GOLDEN_BLOCKHASH, pool: POOL, position },
    ...(version === 1 ? { messageConfig: GOLDEN_CONFIG } : {}),
  }
  const empty = await positionAddresses(addressOf(NFT))
  const maximum = { amountA: 1_000_000_000n, amountB: 1_000_000n }
  const schedule = { cliffPoint: null, frequency: 3_600n, cliffLiquidity: 10n, liquidityPerPeriod: 7n, periods: 12 }
  const nothing = { amountA: 0n, amountB: 0n }
  return {
    open: await buildPositionOpening({ ...act, nftMint: addressOf(NFT), liquidity: LIQUIDITY, maximum }),
    add: await buildLiquidityAddition({ ...act, liquidity: LIQUIDITY, maximum }),
    remove: await buildLiquidityRemoval({ ...act, refreshes: true, liquidity: LIQUIDITY, minimum: nothing }),
    'remove-all': await buildLiquidityRemoval({ ...act, refreshes: false, liquidity: null, minimum: nothing }),
    lock: await buildPermanentLock({ ...act, refreshes: true, liquidity: LIQUIDITY }),
    close: await buildPositionClosing({ ...act, position: { ...empty, nftMint: addressOf(NFT) }, claims: true }),
    vest: await buildPositionVesting({ ...act, refreshes: false, schedule }),
  }
}

describe('a built transaction of a position', () => {
  for (const version of [0, 1] as const) {
    for (const name of ['open', 'add', 'remove', 'remove-all', 'lock', 'vest', 'close'] as const) {
      it(`${name}, version ${version}, equals the recorded one that the program accepted`, async ({ annotate }) => {
        const { transaction } = (await transactions(version))[name]
        const file = `damm-v2-position-${version === 1 ? 'v1-' : ''}${name}`
        await annotate(`${name}: ${await expectGolden(file, transaction, () => arrange(name))} bytes`, 'size')
      })
    }
  }
})
