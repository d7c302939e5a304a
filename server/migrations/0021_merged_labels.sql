-- Ids of the labels that were merged into this one. The history of issues still contains them.
alter table labels add column merged_label_ids text[] not null default '{}';
create index labels_merged on labels using gin (merged_label_ids);
