/** What the platform wallet could do to holders of its mints, on the real token programs, and who else can use its signature. */
import * as spl from '@solana/spl-token'
import { Keypair, type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { HOLDER_POWERS, type HolderPower } from '../../src/solana/token-authorities.ts'
import { createMint, type Extension, give } from '../support/gold.ts'
import { web3Over } from '../support/node.ts'
import { putIdleProgram } from '../support/sbf-program.ts'
import {
  ata,
  createAta,
  openScene,
  type Scene,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  text,
} from './movements-support.ts'

const { AuthorityType, ExtensionType } = spl
const program = TOKEN_2022_PROGRAM_ID
const HOOK = Keypair.generate().publicKey
/** Of a mint that `createMint` makes. */
const DECIMALS = 9

const EXTENSIONS: Extension[] = [
  {
    type: ExtensionType.TransferFeeConfig,
    initialize: (mint, of, by) => spl.createInitializeTransferFeeConfigInstruction(mint, by, by, 100, 5_000n, of),
  },
  {
    type: ExtensionType.InterestBearingConfig,
    initialize: (mint, of, by) => spl.createInitializeInterestBearingMintInstruction(mint, by, 100, of),
  },
  {
    type: ExtensionType.DefaultAccountState,
    initialize: (mint, of) =>
      spl.createInitializeDefaultAccountStateInstruction(mint, spl.AccountState.Initialized, of),
  },
  {
    type: ExtensionType.TransferHook,
    initialize: (mint, of, by) => spl.createInitializeTransferHookInstruction(mint, by, SystemProgram.programId, of),
  },
  {
    type: ExtensionType.PausableConfig,
    initialize: (mint, of, by) => spl.createInitializePausableConfigInstruction(mint, by, of),
  },
  {
    type: ExtensionType.PermanentDelegate,
    initialize: (mint, of, by) => spl.createInitializePermanentDelegateInstruction(mint, by, of),
  },
]
const SCALED: Extension = {
  type: ExtensionType.ScaledUiAmountConfig,
  initialize: (mint, of, by) => spl.createInitializeScaledUiAmountConfigInstruction(mint, by, 1, of),
}
const CLOSABLE: Extension = {
  type: ExtensionType.MintCloseAuthority,
  initialize: (mint, of, by) => spl.createInitializeMintCloseAuthorityInstruction(mint, by, of),
}

interface Case {
  power: HolderPower
  extensions: Extension[]
  act(mint: PublicKey, by: PublicKey): TransactionInstruction
}
const CASES: [string, Case][] = [
  [
    'pauses it',
    { power: 'pause', extensions: EXTENSIONS, act: (mint, by) => spl.createPauseInstruction(mint, by, [], program) },
  ],
  [
    'raises its transfer fee',
    {
      power: 'transfer_fee_config',
      extensions: EXTENSIONS,
      act: (mint, by) => spl.createSetTransferFeeInstruction(mint, by, [], 9_000, 10n ** 9n, program),
    },
  ],
  [
    'changes its interest rate',
    {
      power: 'interest_rate',
      extensions: EXTENSIONS,
      act: (mint, by) => spl.createUpdateRateInterestBearingMintInstruction(mint, by, -5_000, [], program),
    },
  ],
  [
    'changes its multiplier',
    {
      power: 'scaled_amount',
      extensions: [SCALED],
      act: (mint, by) => spl.createUpdateMultiplierDataInstruction(mint, by, 0.01, 0n, [], program),
    },
  ],
  [
    'lets its transfers call a program',
    {
      power: 'transfer_hook',
      extensions: EXTENSIONS,
      act: (mint, by) => spl.createUpdateTransferHookInstruction(mint, by, HOOK, [], program),
    },
  ],
  [
    'lets its new accounts start frozen',
    {
      power: 'freeze',
      extensions: EXTENSIONS,
      act: (mint, by) => spl.createUpdateDefaultAccountStateInstruction(mint, spl.AccountState.Frozen, by, [], program),
    },
  ],
  [
    'closes it',
    {
      power: 'close',
      extensions: [CLOSABLE],
      act: (mint, by) => spl.createCloseAccountInstruction(mint, by, by, [], program),
    },
  ],
]

const mintOf = ({ local, wallet }: Scene, extensions: Extension[]) => createMint(local, wallet, { program, extensions })

describe('a mint of which the platform wallet holds every authority', () => {
  it.each(CASES)(
    'is left alone by a transaction that %s, unless the policy names that power',
    async (_, { power, extensions, act }) => {
      const scene = await openScene()
      const { mint } = mintOf(scene, extensions)
      const movement = await scene.read([act(mint, scene.key)])
      expect(movement).toMatchObject({
        ...{ err: null, stable: true, authority_changes: [], delegates: [] },
        powers: [{ mint: text(mint), power, account: text(mint) }],
      })
      expect(scene.ruleOf(movement)).toBe('power')
      expect(scene.ruleOf(movement, { policy: { powers: HOLDER_POWERS.filter((each) => each !== power) } })).toBe(
        'power',
      )
      expect(scene.ruleOf(movement, { policy: { powers: [power] } })).toBeNull()
    },
  )

  it('is resumed, its accounts start thawed again, and its fees are withdrawn without any power', async () => {
    const scene = await openScene()
    const { wallet, key } = scene
    const token = mintOf(scene, EXTENSIONS)
    const { mint } = token
    const start = (state: spl.AccountState) =>
      spl.createUpdateDefaultAccountStateInstruction(mint, state, key, [], program)
    give(scene.local, wallet, token, key, 1_000n)
    const other = give(scene.local, wallet, token, scene.stranger.publicKey, 1n)
    scene.mints.push(mint)
    const own = ata(mint, key, program)
    scene.send([spl.createTransferCheckedWithFeeInstruction(own, mint, other, key, 500n, DECIMALS, 5n, [], program)])
    const withdraw = spl.createWithdrawWithheldTokensFromAccountsInstruction(mint, own, key, [], [other], program)
    expect(await scene.ruleFor([withdraw])).toBeNull()
    expect(await scene.ruleFor([spl.createHarvestWithheldTokensToMintInstruction(mint, [other], program)])).toBeNull()
    scene.send([start(spl.AccountState.Frozen), spl.createPauseInstruction(mint, key, [], program)])
    const relief = [start(spl.AccountState.Initialized), spl.createResumeInstruction(mint, key, [], program)]
    expect(await scene.ruleFor(relief)).toBeNull()
  })

  it('has no holders in the transaction that creates it, so its settings need no power', async () => {
    const scene = await openScene()
    const keypair = Keypair.generate()
    const space = spl.getMintLen([ExtensionType.PausableConfig, ExtensionType.TransferFeeConfig])
    const [pausable, fee] = [EXTENSIONS[4]!, EXTENSIONS[0]!]
    const by = scene.key
    const instructions = [
      SystemProgram.createAccount({
        ...{ fromPubkey: by, newAccountPubkey: keypair.publicKey, space, programId: program },
        lamports: Number(scene.local.minimumBalance(space)),
      }),
      ...[pausable, fee].map(({ initialize }) => initialize(keypair.publicKey, program, by)),
      spl.createInitializeMint2Instruction(keypair.publicKey, 6, by, by, program),
      spl.createSetTransferFeeInstruction(keypair.publicKey, by, [], 9_000, 10n ** 9n, program),
      spl.createPauseInstruction(keypair.publicKey, by, [], program),
    ]
    const movement = await scene.read(instructions)
    expect([movement.err, movement.powers]).toEqual([null, []])
    expect(scene.ruleOf(movement, { cosigners: [text(keypair.publicKey)] })).toBeNull()
  })

  it('names each lost authority of an extension, and its holder afterwards', async () => {
    const scene = await openScene()
    const { mint } = mintOf(scene, [...EXTENSIONS, CLOSABLE])
    const heir = Keypair.generate().publicKey
    const names = {
      'transfer fee authority': AuthorityType.TransferFeeConfig,
      'withdraw authority': AuthorityType.WithheldWithdraw,
      'rate authority': AuthorityType.InterestRate,
      'hook authority': AuthorityType.TransferHookProgramId,
      'pause authority': AuthorityType.PausableConfig,
      'permanent delegate': AuthorityType.PermanentDelegate,
      'close authority': AuthorityType.CloseMint,
    }
    for (const [what, type] of Object.entries(names)) {
      for (const to of [heir, null]) {
        const movement = await scene.read([spl.createSetAuthorityInstruction(mint, scene.key, type, to, [], program)])
        expect(movement.powers).toEqual([])
        expect(movement.authority_changes).toEqual([{ address: text(mint), what, to: to && text(to) }])
        expect(scene.ruleOf(movement, { policy: { powers: HOLDER_POWERS } })).toBe('authority')
      }
    }
  })
})

describe.each([
  ['SPL Token', TOKEN_PROGRAM_ID],
  ['Token-2022', TOKEN_2022_PROGRAM_ID],
])('a token account of somebody else, of %s', (_, of) => {
  it('is not frozen unless the policy names it, also if it is opened in the same transaction', async () => {
    const scene = await openScene()
    const { mint, held } = scene.mint(of)
    const theirs = scene.accountOf(scene.stranger, mint, of)
    const freeze = (account: PublicKey) => spl.createFreezeAccountInstruction(account, mint, scene.key, [], of)
    const movement = await scene.read([freeze(theirs)])
    expect(movement.powers).toEqual([
      {
        ...{ mint: text(mint), power: 'freeze', account: text(theirs) },
        what: `the token account ${text(theirs)} of ${text(scene.stranger.publicKey)} would be frozen`,
      },
    ])
    expect(scene.ruleOf(movement)).toBe('power')
    expect(scene.ruleOf(movement, { policy: { powers: ['pause'] } })).toBe('power')
    expect(scene.ruleOf(movement, { policy: { powers: ['freeze'] } })).toBeNull()
    const victim = Keypair.generate().publicKey
    const opening = [createAta(scene.key, mint, victim, of), freeze(ata(mint, victim, of))]
    expect(await scene.ruleFor(opening)).toBe('power')
    // Its own account is no holder's, and a thaw takes nothing from anybody.
    expect(await scene.ruleFor([freeze(held)])).toBeNull()
    scene.send([freeze(theirs)])
    expect(await scene.ruleFor([spl.createThawAccountInstruction(theirs, mint, scene.key, [], of)])).toBeNull()
  })
})

describe('an account that starts frozen', () => {
  it('is opened for others without a power, because the mint says so', async () => {
    const scene = await openScene()
    const frozen: Extension = {
      type: ExtensionType.DefaultAccountState,
      initialize: (mint, of) => spl.createInitializeDefaultAccountStateInstruction(mint, spl.AccountState.Frozen, of),
    }
    const { mint } = mintOf(scene, [frozen])
    const movement = await scene.read([createAta(scene.key, mint, Keypair.generate().publicKey, program)])
    expect([movement.err, movement.powers]).toEqual([null, []])
  })
})

/** First bytes of a hook's accounts, the hash of `spl-transfer-hook-interface:execute`. */
const EXECUTE = Buffer.from('692565c54bfb661a', 'hex')

describe('a transfer hook', () => {
  /** A hook that asks for the wallet as a signer and for its accounts as writable, as spl-token resolves it. */
  async function hooked() {
    const scene = await openScene()
    const { local, wallet, key } = scene
    const hook = putIdleProgram(local)
    const extension: Extension = {
      type: ExtensionType.TransferHook,
      initialize: (mint, of, by) => spl.createInitializeTransferHookInstruction(mint, by, hook, of),
    }
    const token = mintOf(scene, [extension])
    const { mint } = token
    scene.mints.push(mint)
    give(local, wallet, token, key, 100n)
    const { held: other } = scene.mint(TOKEN_PROGRAM_ID)
    const theirs = give(local, wallet, token, scene.stranger.publicKey, 1n)
    const asked = [key, other].map((address) => [0, ...address.toBytes(), address === key ? 1 : 0, 1])
    const data = Buffer.concat([
      EXECUTE,
      Buffer.from([4 + 35 * asked.length, 0, 0, 0, asked.length, 0, 0, 0]),
      ...asked.map((each) => Buffer.from(each)),
    ])
    const accounts = spl.getExtraAccountMetaAddress(mint, hook)
    local.setAccount(text(accounts), { lamports: 10n ** 9n, owner: text(hook), data, executable: false })
    const transfer = await spl.createTransferCheckedWithTransferHookInstruction(
      web3Over(scene.chain),
      ata(mint, key, program),
      mint,
      theirs,
      key,
      10n,
      DECIMALS,
      [],
      'confirmed',
      program,
    )
    return { scene, hook, mint, transfer }
  }

  it('is never called with the wallet’s signature: the rule about programs refuses it at any depth', async () => {
    const { scene, hook, transfer } = await hooked()
    expect(transfer.keys.map(({ pubkey }) => text(pubkey))).toContain(text(hook))
    const movement = await scene.read([transfer])
    expect(movement.programs).toContainEqual(expect.objectContaining({ program: text(hook), depth: 2 }))
    expect(scene.ruleOf(movement)).toBe('program')
  })
})
