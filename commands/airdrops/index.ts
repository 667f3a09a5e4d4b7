/** `svc airdrops`: from a list of recipients to funded distributors, claims and the withdrawal of the rest. */
import { paths } from '../../src/api/paths.ts'
import { toHex } from '../../src/merkle/tree.ts'
import { inWhole, tokensText, unitsOfAll, wholeOf } from '../cli/amounts.ts'
import { mintAddress, type Noun, required, text, verb } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import { makeStateFolder, stateFile } from '../cli/state-file.ts'
import { SEND_CALLS, sendFlags } from '../lists/batches/flags.ts'
import { doToWallets } from '../lists/batches/list.ts'
import { SEND_ENDING } from '../lists/batches/stopped.ts'
import { columnInputs, withListNotes } from '../lists/column-flags.ts'
import { chosenUnits, listToken, requireUnits, unitFlags } from '../merkle/list-units.ts'
import { hashRoot, readRecipients } from '../merkle/recipients.ts'
import { fetchStoredList } from '../merkle/stored-list.ts'
import { GUARD, TX_VERSION, termsField, WAIT } from '../signing/flags.ts'
import { sendByPlatform } from '../signing/platform-wallet.ts'
import { previewLine } from '../signing/preview.ts'
import { decimalsOfMints, mintDecimals, recordInTokens } from '../signing/token-state.ts'
import { failure, usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'
import { airdropAdoptVerb } from './adopt.ts'
import { airdropClaimVerb } from './claim.ts'
import { airdropClaimsVerb } from './claims.ts'
import { airdropExportVerb } from './export.ts'
import { airdropInitVerb } from './init.ts'
import { airdropLaunchVerb } from './launch.ts'
import { airdropPageVerb } from './page.ts'
import { airdropSnapshotVerb } from './snapshot.ts'
import { airdropSponsorVerb } from './sponsor.ts'
import { airdropStatusVerb } from './status.ts'
import { listFlags, ROOT_FLAG, requireNamedList, rootsOf, storedRecord } from './stored-list.ts'
import { airdropUnclaimedVerb } from './unclaimed.ts'
import { vaultNotes } from './vault-words.ts'
import { airdropWatchVerb } from './watch.ts'

// `svc airdrops push`: transfers from the list of a stored tree, because nobody can claim for another wallet.

const PUSHES_FOLDER = 'pushes'

const airdropPushVerb = verb({
  about: 'Send the list of a stored airdrop, instead of having it claimed',
  details:
    'Only a wallet itself can claim, so these are transfers from your wallet, like those of `svc airdrops send`. Wallets that have claimed are left out. Refused while the vault can pay claims: a wallet could be paid twice. Withdraw the vault first. If another API key stored the list, a run without a terminal or with --yes needs --root or --list.',
  calls: [...SEND_CALLS, paths.merkleTrees.get, paths.merkleTrees.entries, paths.airdrops.get],
  args: { id: required(text('Id of the stored tree')) },
  flags: {
    journal: text('File that records who was paid (default: one for this airdrop in the state folder)', {
      placeholder: 'FILE',
    }),
    root: text('Merkle root that the stored list must have, hex', ROOT_FLAG),
    ...listFlags,
    raw: unitFlags.raw,
    ...sendFlags,
  },
  examples: [
    'svc airdrops push 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --dry-run',
    'svc airdrops push 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw -k payer.json --out paid.csv',
  ],
  async run({ id, journal, root: meantRoot, list: file, decimals, raw, duplicates, ...flags }, session) {
    const record = await storedRecord(session, id)
    const chosen = { decimals, raw }
    const token = await listToken(session, record.mint)
    requireUnits(chosen, token)
    if (!flags.dry_run || meantRoot !== undefined || file !== undefined) {
      await requireNamedList(session, [record], {
        roots: rootsOf(meantRoot),
        list: file,
        ...columnInputs(flags),
        decimals,
        duplicates,
        units: (name) => chosenUnits(session, chosen, { name, token }),
        signs: true,
      })
    }
    const list = await fetchStoredList(session, id, record.leaf_count)
    const root = toHex(hashRoot(list, session.ui))
    if (root !== record.root) {
      throw failure(`the entries of ${id} lead to the root ${root}, its record says ${record.root}`, {
        next: 'the list was replaced meanwhile, or the server runs another version: run the command again',
      })
    }
    if (journal === undefined && !flags.dry_run) makeStateFolder(PUSHES_FOLDER)
    return doToWallets(session, flags, {
      act: 'send',
      name: id,
      token,
      list,
      journal: journal ?? stateFile(PUSHES_FOLDER, [await session.cluster(), id], 'jsonl'),
      proposals: journal ?? stateFile(PUSHES_FOLDER, [await session.cluster(), id, flags.squads?.vault], 'jsonl'),
      airdrop_id: id,
    })
  },
})

// `svc airdrops withdraw`: the platform wallet withdraws the rest of a vault after the clawback time.

const airdropWithdrawVerb = verb({
  about: 'Withdraw what is left in the vault, once its clawback time has come',
  details:
    'The whole vault goes to the token account that its maker set, no matter who pays the fee. The platform wallet signs. --amount refuses a vault that holds another sum.',
  calls: [paths.airdrops.get, paths.airdrops.withdraw, paths.transactions.get],
  args: { id: required(text('Id of the airdrop')) },
  flags: {
    amount: text('Raw units that the vault must hold (default: any)', { placeholder: 'UNITS' }),
    admin: text('Wallet that must own the receiving account (default: not checked)', { placeholder: 'WALLET' }),
    idempotency_key: text('Repeat the request of an earlier run under its key', {
      placeholder: 'KEY',
      needs: ['amount'],
    }),
    tx_version: TX_VERSION,
    guard: GUARD,
    wait: WAIT,
  },
  examples: [
    'svc airdrops withdraw 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc airdrops withdraw 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --admin 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --yes',
  ],
  async run({ id, amount, admin, idempotency_key, tx_version, guard, wait }, session) {
    if (amount !== undefined && !/^\d{1,20}$/.test(amount)) {
      throw usage(`--amount must be raw units, not "${amount}"`, { param: '--amount' })
    }
    const { data: airdrop } = await session.client.airdrops.get({ id })
    const all = amount ?? airdrop.vault_balance
    if (all === null) throw usage(`${id} has no vault on chain: nothing can be withdrawn`, { param: '<id>' })
    const decimals = await mintDecimals(session, airdrop.mint)
    const what = `Withdraw ${tokensText(all, decimals)} of ${airdrop.mint}`
    await session.ui.preview([
      what,
      previewLine('vault', airdrop.vault ?? '-'),
      previewLine('goes to', airdrop.clawback_receiver ?? '-'),
      previewLine('possible', airdrop.clawback_at === null ? '-' : `from ${timeText(airdrop.clawback_at)}`),
    ])
    const body = { id, amount: all, ...termsField({ tx_version, guard }), ...(admin === undefined ? {} : { admin }) }
    return sendByPlatform(
      session,
      { wait, idempotency_key },
      {
        what,
        async sign(options) {
          const { data } = await session.client.airdrops.withdraw(body, options)
          if (data.mode !== 'signed') throw failure('the API answered without a signature: it did not sign')
          const { mode: _, signature, ...shown } = data
          return { signature, show: () => ({ airdrop: id, ...shown }) }
        },
      },
    )
  },
})

// `svc airdrops send`: transfers a token to every wallet of a CSV, so that nobody has to claim.

const airdropSendVerb = verb({
  about: 'Send a token to every wallet of a CSV, each once',
  details:
    'A CSV needs --decimals, which must be those of the mint, or --raw. Each transaction pays as many wallets as fit. Missing token accounts are opened at your cost, which is shown first. Signed transactions are stored in a journal before they are sent (FILE.send.jsonl): run the same command again after any interruption, and nobody is paid twice. Wallets that cannot receive are named and left out. The exit code is 1 until everybody is paid. With --squads each transaction is a proposal of the vault (journal: FILE.proposals.json).',
  calls: SEND_CALLS,
  args: { file: required(text('CSV of wallets and amounts', { placeholder: 'FILE', existing: true })) },
  flags: {
    mint: required(mintAddress('Mint of the token, or its symbol')),
    ...unitFlags,
    journal: text('File that records who was paid (default: FILE.send.jsonl)', { placeholder: 'FILE' }),
    ...sendFlags,
  },
  examples: [
    'svc airdrops send rewards.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6 --dry-run',
    'svc airdrops send rewards.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6 -k payer.json --out paid.csv',
  ],
  async run({ file, mint, decimals, raw, duplicates, journal, ...flags }, session) {
    if (file === '-') {
      throw usage('the list must be a file: standard input could not be read again after an interruption', {
        param: 'FILE',
      })
    }
    const chosen = { decimals, raw }
    const token = await listToken(session, mint)
    requireUnits(chosen, token)
    const units = (name: string) => chosenUnits(session, chosen, { name, token })
    const read = await readRecipients(file, { ...columnInputs(flags), mint, decimals, duplicates, units }, session.ui)
    const outcome = await doToWallets(session, flags, {
      act: 'send',
      name: file,
      token,
      list: read.list,
      isRaw: read.hasDecimals && read.decimals === undefined,
      journal: journal ?? `${file}${SEND_ENDING}`,
      proposals: journal ?? `${file}.proposals.json`,
    })
    return withListNotes(outcome, read)
  },
})

// `svc airdrops snapshots`: stored snapshots of holders, and who was in them.

const at = paths.holderSnapshots
const SNAPSHOT = { id: required(text('Id of the snapshot')) }

const snapshotVerbs = {
  'snapshots list': listVerb({
    about: 'List snapshots of holders, newest first',
    at: at.list,
    filters: { address: text('Only those of this mint or collection', { placeholder: 'ADDRESS' }) },
    examples: [
      'svc airdrops snapshots list',
      'svc airdrops snapshots list --address 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --limit 5',
    ],
    columns: ['id', 'mint', 'collection', 'slot', 'supply', 'holders', 'created_at'],
    call: (client, query) => client.holderSnapshots.list(query),
  }),
  'snapshots get': verb({
    about: 'Read one snapshot of holders',
    calls: [at.get],
    args: SNAPSHOT,
    examples: [
      'svc airdrops snapshots get hsn_9aPw4DfKs6ZtLm2QvXr8Ye1C',
      'svc airdrops snapshots get hsn_9aPw4DfKs6ZtLm2QvXr8Ye1C --json',
    ],
    run: async (input, { client }) => ({ data: (await client.holderSnapshots.get(input)).data }),
  }),
  'snapshots holders': listVerb({
    about: 'List who held something, by address: wallets, vaults and other accounts of programs',
    at: at.holders,
    args: SNAPSHOT,
    examples: [
      'svc airdrops snapshots holders hsn_9aPw4DfKs6ZtLm2QvXr8Ye1C',
      'svc airdrops snapshots holders hsn_9aPw4DfKs6ZtLm2QvXr8Ye1C --all -o plain',
    ],
    columns: ['wallet', 'amount', 'kind', 'program', 'frozen'],
    call: (client, query) => client.holderSnapshots.holders(query),
  }),
}

// `svc airdrops eligibility`: which airdrops include a wallet, what it can claim, and why it cannot claim.

export const airdropEligibilityVerb = listVerb({
  about: 'Show which stored airdrops include a wallet, what it can claim, and why not',
  at: [paths.airdrops.lookup, paths.accounts.get],
  args: { wallet: required(text('Address of the wallet')) },
  filters: { mint: mintAddress('Only those of this token') },
  examples: [
    'svc airdrops eligibility 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g',
    'svc airdrops eligibility 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --json',
  ],
  columns: [
    ...(['id', 'mint', 'airdrop_count', 'amount', 'status', 'claimed', 'claimable', 'note'] as const),
    ...(['amount_locked', 'vested', 'claimed_amount', 'claimable_amount', 'next_vesting_at'] as const),
  ],
  async table(airdrops, session) {
    const decimals = await decimalsOfMints(
      session,
      airdrops.map(({ mint }) => mint),
    )
    const shown = (mint: string, amount: string) => {
      const digits = decimals.get(mint) ?? null
      return digits === null ? `${amount} raw units` : wholeOf(amount, digits)
    }
    return {
      columns: ['id', 'mint', 'airdrop_count', 'amount', 'locked', 'claimed', 'claimable', 'status', 'note'],
      rows: airdrops.map(({ id, mint, airdrop_count, amount, status, note, ...of }) => [
        ...[id, mint, airdrop_count, shown(mint, amount), shown(mint, of.amount_locked)],
        ...[shown(mint, of.claimed_amount), shown(mint, of.claimable_amount), status, note],
      ]),
    }
  },
  whole: true,
  call: (client, query) => client.airdrops.lookup(query),
})

// `svc airdrops entitlement`: what one wallet is owed by an airdrop, has claimed and can claim now.

export const airdropEntitlementVerb = verb({
  about: 'Show what an airdrop owes one wallet, what it has claimed and can claim now, and when more vests',
  calls: [paths.airdrops.entitlement, paths.accounts.get],
  args: { id: required(text('Id of the airdrop')), wallet: required(text('Address of the wallet')) },
  examples: [
    'svc airdrops entitlement 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g',
    'svc airdrops entitlement 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g -o json',
  ],
  async run(input, session) {
    const { data } = await session.client.airdrops.entitlement(input)
    const { amount, amount_locked, claimed_amount, clawback_at, reason, note } = data
    const isAllClaimed = BigInt(claimed_amount) >= BigInt(amount) + BigInt(amount_locked)
    const hasDeadline = !isAllClaimed && clawback_at !== null && reason !== 'clawed_back'
    const notes = [
      ...(note === null ? [] : [printable(note)]),
      ...(hasDeadline
        ? [`From ${timeText(clawback_at)} on the maker can withdraw what is not claimed, vested or not.`]
        : []),
    ]
    const amounts = ['amount', 'amount_locked', 'claimed_amount', 'claimable_amount', 'vested'] as const
    return { data, ...(await recordInTokens(session, data, amounts)), notes }
  },
})

const airdropListVerb = listVerb({
  about: 'List airdrops, newest first',
  at: paths.airdrops.list,
  filters: { mint: mintAddress('Only those of this token') },
  examples: ['svc airdrops list', 'svc airdrops list --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --all'],
  columns: ['id', 'mint', 'airdrop_count', 'leaf_count', 'status', 'root'],
  call: (client, query) => client.airdrops.list(query),
})

const airdropGetVerb = verb({
  about: 'Read one airdrop',
  calls: [paths.airdrops.get, paths.accounts.get],
  args: { id: required(text('Id of the airdrop')) },
  examples: [
    'svc airdrops get 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc airdrops get 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --json',
  ],
  async run(input, session) {
    const { data } = await session.client.airdrops.get(input)
    const amounts = ['total', 'vault_balance', 'vault_lacks', 'claimed_amount'] as const
    const decimals = await mintDecimals(session, data.mint)
    return {
      data,
      record: inWhole(data, unitsOfAll(amounts, decimals)),
      notes: vaultNotes(data, decimals, session.clock.now()),
    }
  },
})

export const airdropsNoun: Noun = {
  groups: { snapshots: 'Who held a token or a collection' },
  verbs: {
    launch: airdropLaunchVerb,
    init: airdropInitVerb,
    adopt: airdropAdoptVerb,
    claim: airdropClaimVerb,
    sponsor: airdropSponsorVerb,
    withdraw: airdropWithdrawVerb,
    send: airdropSendVerb,
    push: airdropPushVerb,
    status: airdropStatusVerb,
    watch: airdropWatchVerb,
    claims: airdropClaimsVerb,
    unclaimed: airdropUnclaimedVerb,
    eligibility: airdropEligibilityVerb,
    page: airdropPageVerb,
    entitlement: airdropEntitlementVerb,
    export: airdropExportVerb,
    snapshot: airdropSnapshotVerb,
    ...snapshotVerbs,
    list: airdropListVerb,
    get: airdropGetVerb,
  },
}
