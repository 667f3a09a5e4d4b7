/** The flags of `svc pools create`. */
import { asked, choiceOf, type InputValues, integer, requiredUnless, text, toggle } from '../cli/command.ts'
import { TRUST_JOURNAL } from '../lists/proof.ts'
import { ALLOW_PROGRAMS, IDEMPOTENCY_KEY, SIGNING_HERE, WALLET_ADDRESS, WITHOUT_PLATFORM } from '../signing/flags.ts'
import { mintKeypair } from '../signing/mint-keypair.ts'

const URL_VALUE = { placeholder: 'URL' }

/** What a list says in its rows, or does not do: it waits until each launch is confirmed. */
const OF_ONE_LAUNCH = [
  ...['name', 'symbol', 'image', 'type', 'unlocked_liquidity', 'preset', 'buy', 'description'],
  ...['website', 'twitter', 'telegram', 'mint_keypair'],
  ...['build_only', 'bundle', 'signed', 'idempotency_key', 'wait=none', 'wait=finalized'],
]

export const createFlags = {
  name: requiredUnless('from', text('Name: 1 to 20 letters, digits or spaces')),
  symbol: requiredUnless('from', text('Symbol: 1 to 10 letters or digits')),
  image: requiredUnless(
    'from',
    text('Image of the token: PNG, JPEG, GIF or WebP; - for standard input', {
      placeholder: 'FILE',
      existing: true,
    }),
  ),
  type: choiceOf(['dbc', 'damm_v2'], 'Launch curve (dbc, the default), or a pool of the whole supply (damm_v2)'),
  unlocked_liquidity: toggle(
    'With damm_v2: the creator can take the liquidity out at any time; otherwise it is locked for good',
    { needs: ['type=damm_v2'] },
  ),
  preset: asked(text('Curve, see `svc pools presets`', { placeholder: 'NAME', fallback: 'the default one' })),
  buy: asked(
    text("SOL, or whole tokens of the preset's quote, that the creator's first buy spends", {
      placeholder: 'SOL',
      fallback: '0',
    }),
  ),
  quote: text('Mint of the quote, if it is not SOL', { placeholder: 'MINT' }),
  max_creation_fee: text('Most SOL that the preset may take as pool creation fee (default 0.1)', {
    placeholder: 'SOL',
  }),
  max_platform_percentage: integer('Most percent of a damm_v2 position that the preset may give away (default 50)', {
    min: 0,
    max: 99,
  }),
  shared_config: text('Config account of a preset that was shared from another machine', WALLET_ADDRESS),
  description: asked(text('Description, up to 500 characters')),
  website: asked(text('Website', URL_VALUE)),
  twitter: text('Profile on X', URL_VALUE),
  telegram: text('Group or channel on Telegram', URL_VALUE),
  mint_keypair: mintKeypair('base_mint'),
  allow_programs: ALLOW_PROGRAMS,
  // A launch of version 1 is one transaction.
  bundle: toggle('Send the transactions as a bundle (the default if relay-url is set)', {
    conflicts: ['tx_version=1'],
  }),
  signed: toggle('The platform wallet creates it and signs, instead of your keypair', {
    conflicts: ['mint_keypair', 'dry_run', 'force', 'bundle', ...WITHOUT_PLATFORM],
  }),
  idempotency_key: IDEMPOTENCY_KEY,
  creator: text('Wallet that signs elsewhere and launches it; with --build-only', WALLET_ADDRESS),
  from: text('CSV or JSON with many launches, instead of the flags of one', {
    placeholder: 'FILE',
    conflicts: OF_ONE_LAUNCH,
  }),
  journal: text('Where the journal of --from is kept (default: beside the list)', {
    placeholder: 'FILE',
    needs: ['from'],
  }),
  trust_journal: TRUST_JOURNAL,
  rehearse: toggle('Run it and all that follows on a copy of the cluster, and send nothing', {
    conflicts: ['squads', 'dry_run', 'build_only', 'bundle', 'wait', 'idempotency_key'],
  }),
  ...SIGNING_HERE,
  payer: text(
    'Sponsor: pays rent and fees and signs together with the creator, who pays the first buy; with --build-only',
    WALLET_ADDRESS,
  ),
}
export type CreateFlags = InputValues<typeof createFlags>
