-- The deletion of a workspace: an owner starts it, and days later its data is purged.

alter table workspaces
  add column deletion_at timestamptz(3),          -- when the purge begins; null unless an owner has started the deletion
  add column deletion_reminded_at timestamptz(3), -- when the owners were reminded
  add column purged_since timestamptz(3),         -- the purge has begun and cannot be canceled
  add column purge_told_ids text[];               -- the owners at that time, who are mailed when it is done
create index workspaces_deletion on workspaces (deletion_at) where deletion_at is not null;

-- While the deletion is pending, deliveries are neither sent nor canceled.
alter table endpoints add column paused boolean not null default false;
