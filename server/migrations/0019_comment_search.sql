-- The search in comments.

create index if not exists comments_text on comments using gin (text gin_trgm_ops);
