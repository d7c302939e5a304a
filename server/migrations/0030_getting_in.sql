-- Sign-in methods, links by mail, personal tokens, mail, notifications and inbox threads.

alter table users add column email_verified_at timestamptz(3);
alter table users add column pending_email text;
alter table users add column mail_problem text; -- why the address does not take mail; null once it is verified again
alter table users add column reset_blocked_until timestamptz(3); -- after a change of e-mail was undone
alter table users add column last_sso_at timestamptz(3);

alter table logins add column method text; -- password, sso, passkey, cli, sign_up; null for logins of earlier versions
alter table logins add column provider_id text;
alter table logins add column identity_id text;
alter table logins add column sid text; -- of the provider, for its sign-out
alter table logins add column client text;
alter table logins add column network text;
alter table logins add column proved_at timestamptz(3); -- when a sign-in method was last used in this login
alter table logins add column expires_at timestamptz(3); -- of SSO logins; the others expire when unused
create index logins_newest on logins (user_id, created_at desc);
create index logins_expiry on logins (expires_at) where expires_at is not null;
create index logins_identity on logins (identity_id) where identity_id is not null;
create index logins_sid on logins (provider_id, sid) where sid is not null;

create table sso_identities (
  id          text primary key,
  user_id     text not null references users on delete cascade,
  provider_id text not null,
  issuer      text not null,
  subject     text not null,
  email       text,
  created_at  timestamptz(3) not null,
  unique (issuer, subject)
);
create index sso_identities_user on sso_identities (user_id);

create table passkeys (
  id            text primary key,
  user_id       text not null references users on delete cascade,
  name          text not null,
  credential_id text not null unique, -- base64url
  public_key    bytea not null,
  counter       bigint not null,
  transports    text[] not null,
  created_at    timestamptz(3) not null,
  last_used_at  timestamptz(3)
);
create index passkeys_user on passkeys (user_id, id);

-- Challenges are consumed by one DELETE. `user_id` is null where someone signs in.
create table passkey_challenges (
  challenge_hash bytea primary key,
  user_id        text references users on delete cascade,
  purpose        text not null, -- register, use
  expires_at     timestamptz(3) not null
);
create index passkey_challenges_expiry on passkey_challenges (expires_at);
create index passkey_challenges_user on passkey_challenges (user_id) where user_id is not null;

-- One attempt to sign in with a provider. Consumed by one DELETE.
create table sso_attempts (
  state_hash  bytea primary key,
  cookie_hash bytea not null,
  provider_id text not null,
  purpose     text not null, -- sign_in, link, reauth
  login_hash  bytea, -- of the login that started a link or a confirmation
  nonce       text not null,
  verifier    text not null, -- sealed
  next        text not null, -- sealed
  created_at  timestamptz(3) not null,
  expires_at  timestamptz(3) not null
);
create index sso_attempts_expiry on sso_attempts (expires_at);

-- Memberships that a provider has given once, so that a removed member is not added again.
create table sso_joins (
  identity_id  text not null references sso_identities on delete cascade,
  workspace_id text not null references workspaces on delete cascade,
  joined_at    timestamptz(3) not null,
  primary key (identity_id, workspace_id)
);
create index sso_joins_workspace on sso_joins (workspace_id);

-- Ids of the provider's sign-out messages that were processed.
create table sso_logouts (
  issuer     text not null,
  jti        text not null,
  expires_at timestamptz(3) not null,
  primary key (issuer, jti)
);
create index sso_logouts_expiry on sso_logouts (expires_at);

-- Links by mail: the newest of each kind is valid for a user, and of `undo` the newest to each address. `operator` is the
-- time of the user's last change of password or e-mail: operator's links of earlier are invalid.
create table account_links (
  token_hash bytea primary key,
  user_id    text not null references users on delete cascade,
  kind       text not null, -- reset, verify, change, undo, operator
  email      text not null, -- the address that the link is about; of `undo` the one that it restores
  verified_at timestamptz(3), -- of `undo`: when that address was verified
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create unique index account_links_newest on account_links (user_id, kind) where kind <> 'undo';
create unique index account_links_undo on account_links (email, user_id) where kind = 'undo';
create index account_links_user on account_links (user_id);
create index account_links_expiry on account_links (expires_at);

-- Codes of `baton login --browser`, consumed by one DELETE.
create table cli_codes (
  code_hash  bytea primary key,
  login_hash bytea not null references logins on delete cascade,
  challenge  text not null,
  name       text not null,
  expires_at timestamptz(3) not null
);
create index cli_codes_login on cli_codes (login_hash);
create index cli_codes_expiry on cli_codes (expires_at);

create table personal_tokens (
  id           text primary key,
  workspace_id text not null,
  user_id      text not null,
  name         text not null,
  token_hash   bytea not null unique,
  scopes       text[] not null,
  team_ids     text[], -- null: all teams of the user
  expires_at   timestamptz(3) not null,
  reminded_at  timestamptz(3), -- when the mail before its expiry was queued
  last_used_at timestamptz(3),
  created_at   timestamptz(3) not null,
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index personal_tokens_newest on personal_tokens (workspace_id, id desc);
create index personal_tokens_owner on personal_tokens (workspace_id, user_id, id desc);
create index personal_tokens_user on personal_tokens (user_id);
create index personal_tokens_expiry on personal_tokens (expires_at);

create table mails (
  id           text primary key,
  kind         text not null,
  user_id      text references users on delete cascade,
  workspace_id text references workspaces on delete cascade,
  address      text, -- null: the user's address at the time of the attempt
  data         jsonb not null,
  secret       text, -- sealed with the mail's id as additional data; erased when the mail is settled
  message_id   text not null,
  state        text not null, -- pending, sent, failed, canceled
  attempts     int not null default 0,
  next_at      timestamptz(3) not null, -- of the next attempt; while one is running, when its claim expires
  expires_at   timestamptz(3), -- of the link in it
  claim_id     text,
  problem      text, -- what the server said last
  created_at   timestamptz(3) not null,
  settled_at   timestamptz(3)
);
create index mails_due on mails (next_at, id) where state = 'pending';
create index mails_user on mails (user_id) where user_id is not null;
create index mails_workspace on mails (workspace_id, created_at) where workspace_id is not null;
create index mails_created on mails (created_at);
create index mails_failed on mails (settled_at) where state = 'failed';

-- The pause after trouble with the server. No row: there was none since the last mail that it took.
create table mail_state (
  id           int primary key check (id = 1),
  paused_until timestamptz(3) not null,
  pauses       int not null, -- in a row
  reason       text not null
);

alter table invitations add column mail_token_hash bytea; -- of the token in the mail, which also verifies the address
alter table invitations add column mail_id text;
create unique index invitations_mail_token on invitations (mail_token_hash) where mail_token_hash is not null;

create table notification_settings (
  workspace_id text not null,
  user_id      text not null,
  kinds        jsonb not null default '{}', -- kind → immediately, daily, never; the others have their default
  digest_hour  int not null default 8,
  paused       boolean not null default false,
  digested_on  date, -- the last day in the user's time zone whose digest was queued
  primary key (workspace_id, user_id),
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index notification_settings_user on notification_settings (user_id);

create table presence (
  user_id   text primary key references users on delete cascade,
  active_at timestamptz(3) not null
);

-- Notifications that wait to become a mail: when the next one of a user in a workspace is due.
create table mail_due (
  workspace_id text not null,
  user_id      text not null,
  way          text not null, -- immediately, daily
  since        timestamptz(3) not null, -- earlier entries are not part of it
  due_at       timestamptz(3) not null,
  primary key (workspace_id, user_id, way),
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index mail_due_next on mail_due (due_at);

alter table inbox_entries add column mailed_at timestamptz(3); -- taken into a mail

-- The entries of a user about one subject: its place in the list, and what the user did with it.
create table inbox_threads (
  workspace_id  text not null,
  user_id       text not null,
  issue_id      text references issues on delete cascade,
  project_id    text references projects on delete cascade,
  endpoint_id   text references endpoints on delete cascade,
  app_id        text references agent_apps on delete cascade,
  subject_id    text not null generated always as (coalesce(issue_id, project_id, endpoint_id, app_id)) stored,
  moved_at      timestamptz(3) not null, -- of its newest entry; the end of a snooze, while or after there was one
  latest_id     text not null, -- of its newest entry, to order those of the same time
  archived_at   timestamptz(3),
  snoozed_until timestamptz(3),
  primary key (workspace_id, user_id, subject_id),
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index inbox_threads_open on inbox_threads (workspace_id, user_id, moved_at desc, latest_id desc)
  where archived_at is null;
create index inbox_threads_archived on inbox_threads (workspace_id, user_id, moved_at desc, latest_id desc)
  where archived_at is not null;
create index inbox_threads_snoozed on inbox_threads (snoozed_until) where snoozed_until is not null;
create index inbox_threads_issue on inbox_threads (issue_id) where issue_id is not null;
create index inbox_threads_project on inbox_threads (project_id) where project_id is not null;
create index inbox_threads_endpoint on inbox_threads (endpoint_id) where endpoint_id is not null;
create index inbox_threads_app on inbox_threads (app_id) where app_id is not null;
create index inbox_entries_thread on inbox_entries
  (workspace_id, user_id, (coalesce(issue_id, project_id, endpoint_id, app_id)), id desc);

insert into inbox_threads (workspace_id, user_id, issue_id, project_id, endpoint_id, app_id, moved_at, latest_id)
select distinct on (workspace_id, user_id, coalesce(issue_id, project_id, endpoint_id, app_id))
  workspace_id, user_id, issue_id, case when issue_id is null then project_id end,
  case when coalesce(issue_id, project_id) is null then endpoint_id end,
  case when coalesce(issue_id, project_id, endpoint_id) is null then app_id end, created_at, id
from inbox_entries where coalesce(issue_id, project_id, endpoint_id, app_id) is not null
order by workspace_id, user_id, coalesce(issue_id, project_id, endpoint_id, app_id), id desc;

-- A trigger, so that entries of processes of the previous version have a thread too during an upgrade.
-- A new entry unarchives its thread, and ends a snooze if it needs the user.
create function place_inbox_thread() returns trigger language plpgsql as $$
begin
  insert into inbox_threads as t
    (workspace_id, user_id, issue_id, project_id, endpoint_id, app_id, moved_at, latest_id)
  values (new.workspace_id, new.user_id, new.issue_id, case when new.issue_id is null then new.project_id end,
    case when coalesce(new.issue_id, new.project_id) is null then new.endpoint_id end,
    case when coalesce(new.issue_id, new.project_id, new.endpoint_id) is null then new.app_id end,
    new.created_at, new.id)
  on conflict (workspace_id, user_id, subject_id) do update set
    latest_id = excluded.latest_id,
    archived_at = null,
    moved_at = case when t.snoozed_until > new.created_at and new.kind not in ('mention', 'assignment', 'agent_needs_you')
      then t.moved_at else excluded.moved_at end,
    snoozed_until = case when t.snoozed_until > new.created_at
      and new.kind not in ('mention', 'assignment', 'agent_needs_you') then t.snoozed_until end;
  return null;
end $$;
create trigger inbox_entries_place_thread after insert on inbox_entries for each row
  when (coalesce(new.issue_id, new.project_id, new.endpoint_id, new.app_id) is not null)
  execute function place_inbox_thread();
