-- Which request caused an event, so that its deliveries can name it.
alter table events add column request_id text;
alter table events add column traceparent text;

-- People whose data was erased. A restore of an older backup erases them again.
create table erasures (
  user_id text primary key,
  erased_at timestamptz not null
);

-- One row for each instant at which a backup was due: the process that inserted it, or took it over, makes the backup.
create table scheduled_backups (
  due_at timestamptz primary key,
  claimed_by text not null,
  claimed_until timestamptz not null,
  finished_at timestamptz,
  file text,
  bytes bigint,
  problem text
);

-- The sequence of an unlogged table is unlogged too. On a promoted standby of PostgreSQL 15 it is unreadable ("bad magic
-- number in sequence"), so that no call of an app could be counted.
alter sequence rate_windows_id_seq set logged;
