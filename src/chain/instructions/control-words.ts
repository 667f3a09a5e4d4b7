/**
 * Says in sentences what an instruction changes about control: owner, authority, delegate, right to close, program.
 * They stand above the instruction's accounts and arguments, all of which are shown whatever is said here.
 */
import type { DescribedInstruction } from '../../solana/described-instructions.ts'
import {
  LOOKUP_TABLE_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
} from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'

/**
 * Sentences by instruction, with the names of roles and arguments in braces. One with `?` is left out if the instruction
 * leaves its value out. Otherwise what is left out is the text after `|`, or "nobody".
 */
type Sentences = Readonly<Record<string, string>>

const TOKENS: Sentences = {
  approve: '{delegate} may move tokens out of {source}, up to the amount below',
  approveChecked: '{delegate} may move tokens out of {source}, up to the amount below',
  revoke: '{source} has no delegate any more',
  setAuthority: 'the authority {kind} of {account} goes to {newAuthority}',
  closeAccount: '{account} is closed, and its SOL goes to {destination}',
  freezeAccount: '{account} is frozen: its tokens cannot be moved until {authority} thaws it',
  thawAccount: '{account} is thawed: its tokens can be moved again',
  initializeMintCloseAuthority: '{newAuthority} may close the mint {mint}',
  initializePermanentDelegate: '{delegate} may move and burn the tokens of every holder of {mint}',
  initializeTransferHook: 'the program {programId} runs in every transfer of {mint}; {hookAuthority} may change it',
  updateTransferHook: 'the program {programId} runs in every transfer of {mint}',
  initializePausableConfig: '{pauseAuthority} may stop every transfer of {mint}',
  pause: 'every transfer of {mint} stops',
  resume: 'transfers of {mint} work again',
  update_token_metadata_authority: 'the authority over the metadata in {metadata} goes to {new_authority}',
}

const PLUGIN_TO = 'the authority over the plugin {plugin_type}'
const STAKE =
  'the stake {stake}: its authority (0 stakes, 1 withdraws) number {stake_authorize} goes to {new_authority}'
const CONFIG = 'of the multisig {multisig}'

const SENTENCES: ReadonlyMap<string, Sentences> = new Map<string, Sentences>([
  [
    SYSTEM_PROGRAM,
    {
      assign: '{account} goes to the program {owner}, which alone decides about it and its SOL from then on',
      assignWithSeed: '{account} goes to the program {owner}, which alone decides about it and its SOL from then on',
      allocateWithSeed: '{account} goes to the program {owner}, which alone decides about it and its SOL from then on',
      initializeNonce: '{nonceAuthority} gets the authority over the nonce {nonceAccount}',
      authorizeNonce: 'the authority over the nonce {nonceAccount} goes to {newAuthorized}',
    },
  ],
  [TOKEN_PROGRAM, TOKENS],
  [TOKEN_2022_PROGRAM, TOKENS],
  [
    LOOKUP_TABLE_PROGRAM,
    {
      freezeLookupTable: 'the lookup table {lookupTableAccount} can never be changed again',
      closeLookupTable: 'the lookup table {lookupTableAccount} is closed, and its SOL goes to {recipient}',
    },
  ],
  [
    PROGRAMS.core.id,
    {
      transfer_v1: 'the asset {asset} goes to {new_owner}',
      burn_v1: 'the asset {asset} is burnt',
      burn_collection_v1: 'the collection {collection} is burnt',
      update_v1: 'the update authority of the asset {asset} becomes {new_update_authority?}',
      update_v2: 'the update authority of the asset {asset} becomes {new_update_authority?}',
      update_collection_v1: 'the update authority of the collection {collection} goes to {new_update_authority?}',
      add_plugin_v1:
        'the asset {asset} gets the plugin {plugin}, with {init_authority|its usual holder} as its authority',
      add_collection_plugin_v1:
        'all of the collection {collection} get the plugin {plugin}, with {init_authority|its usual holder} as its authority',
      update_plugin_v1: 'the plugin of the asset {asset} becomes {plugin}',
      update_collection_plugin_v1: 'the plugin of the collection {collection} becomes {plugin}',
      remove_plugin_v1: 'the asset {asset} loses the plugin {plugin_type}',
      remove_collection_plugin_v1: 'the collection {collection} loses the plugin {plugin_type}',
      approve_plugin_authority_v1: `${PLUGIN_TO} of the asset {asset} goes to {new_authority}`,
      approve_collection_plugin_authority_v1: `${PLUGIN_TO} of the collection {collection} goes to {new_authority}`,
      revoke_plugin_authority_v1: `${PLUGIN_TO} of the asset {asset} is revoked`,
      revoke_collection_plugin_authority_v1: `${PLUGIN_TO} of the collection {collection} is revoked`,
      execute_v1: 'the asset {asset} signs for what {program_id} does with the data below',
    },
  ],
  [
    PROGRAMS.tokenMetadata.id,
    { update_metadata_account_v2: 'the update authority of the metadata {metadata} goes to {new_update_authority?}' },
  ],
  [
    PROGRAMS.distributor.id,
    {
      set_admin: 'the admin of the airdrop {distributor} becomes {new_admin}',
      set_clawback_receiver: 'what is left of the airdrop {distributor} goes to {new_clawback_account}',
    },
  ],
  [
    PROGRAMS.lock.id,
    {
      update_vesting_escrow_recipient: 'the recipient of the lock {escrow} becomes {new_recipient}',
      cancel_vesting_escrow: 'the lock {escrow} ends: what is not unlocked yet goes to {creator_token}',
    },
  ],
  [
    PROGRAMS.presale.id,
    {
      initialize_presale: 'what the raise {presale} brings goes to {creator} for good; its unsold tokens, too',
      create_merkle_root_config: 'the wallets of the list with the root below may buy in the raise {presale}',
      create_operator: '{operator_owner} may admit wallets to every raise of {creator} that has operators',
      revoke_operator: 'the operator {operator} of {creator} admits nobody any more',
      create_permissioned_server_metadata: 'buyers of the raise {presale} get their proofs from {server_url}',
    },
  ],
  [PROGRAMS.dbc.id, { transfer_pool_creator: 'the creator of the pool {virtual_pool} becomes {new_creator}' }],
  [
    PROGRAMS.dammV2.id,
    {
      update_delegate_permission: 'the delegate of the position {position} may do what the permission below says',
      split_position: 'liquidity of {first_position} moves to {second_position} of {second_owner}',
      split_position2: 'liquidity of {first_position} moves to {second_position} of {second_owner}',
    },
  ],
  [
    PROGRAMS.squads.id,
    {
      multisig_add_member: `{key} becomes a member ${CONFIG}, with the rights {mask} (1 proposes, 2 votes, 4 executes)`,
      multisig_remove_member: `{old_member} is no longer a member ${CONFIG}`,
      multisig_change_threshold: `acts ${CONFIG} need {new_threshold} approvals`,
      multisig_set_time_lock: `acts ${CONFIG} wait {time_lock} seconds after their approval`,
      multisig_set_config_authority: `the authority over members and rules ${CONFIG} goes to {config_authority}`,
      multisig_set_rent_collector: `the rent collector ${CONFIG} becomes {rent_collector}`,
      multisig_add_spending_limit: `{members} may spend from the vault {vault_index} ${CONFIG} without approvals`,
      config_transaction_create: `members and rules ${CONFIG} would change: {actions}`,
      config_transaction_execute: `members and rules ${CONFIG} change as {transaction} says`,
      vault_transaction_execute: `the vault ${CONFIG} executes {transaction}`,
      proposal_approve: `{member} approves {proposal} ${CONFIG}`,
      program_config_set_authority: 'the authority over the program Squads goes to {new_authority}',
    },
  ],
  [
    STAKE_PROGRAM,
    {
      authorize: STAKE,
      authorize_with_seed: STAKE,
      authorize_checked: STAKE,
      authorize_checked_with_seed: STAKE,
      set_lockup: 'the lockup of the stake {stake} changes; its custodian becomes {custodian?}',
      set_lockup_checked: 'the lockup of the stake {stake} changes; its custodian becomes {custodian?}',
    },
  ],
  [
    UPGRADEABLE_LOADER,
    {
      set_authority: 'the authority over the program or buffer {account} goes to {new_authority}',
      set_authority_checked: 'the authority over the program or buffer {account} goes to {new_authority}',
      upgrade: 'the program {program} gets the code of {buffer}',
      close: '{account} is closed, and its SOL goes to {recipient}',
    },
  ],
])

/** The sentences about control for one instruction. Values come from the transaction and are unchecked. */
export function controlWords({
  program,
  instruction,
  accounts,
  args,
}: Pick<DescribedInstruction, 'program' | 'instruction' | 'accounts' | 'args'>): string[] {
  const sentences = SENTENCES.get(program)
  const sentence =
    instruction !== null && sentences !== undefined && Object.hasOwn(sentences, instruction)
      ? sentences[instruction]
      : undefined
  if (sentence === undefined) return []
  let isLeftOut = false
  const text = sentence.replace(/\{(\w+)([?|]?)([^}]*)\}/g, (_, name: string, mark: string, otherwise: string) => {
    const address = accounts.find(({ role }) => role === name)?.address
    // A program with optional accounts writes itself for one that is left out.
    const value = address === program ? undefined : (address ?? args.find((arg) => arg.name === name)?.value)
    const isNobody = value === undefined || value === 'none'
    isLeftOut ||= mark === '?' && isNobody
    return isNobody ? otherwise || 'nobody' : value
  })
  return isLeftOut ? [] : [text]
}
